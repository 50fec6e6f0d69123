"""Reading handwritten words: letter by letter, and as words by a chain.

    python ocr_chain.py [letter.data] [--plot FILE.png]

Without a file it draws words of its own. With letter.data (Taskar's OCR set, plain or gzip, or what
`multiplane data make letters` writes) it trains on fold 0 and tests on fold 1.
"""

import argparse

import numpy as np

import multiplane

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("data", nargs="?", help="letter.data")
arguments.add_argument("--plot", metavar="FILE", help="where to save the curves of the bounds")
arguments = arguments.parse_args()


def draw_words(count, rng):
    """Words from a chain of letters that like to follow each other, written with noisy 8 x 8 pixels."""
    letters = np.array(list("aeinorst"))
    shapes = np.random.default_rng(7).random((8, 64)) < 0.4
    follow = np.random.default_rng(8).dirichlet(np.full(8, 0.3), size=8)  # few likely successors for each letter
    X, y = [], []
    for _ in range(count):
        word = [rng.integers(8)]
        while len(word) < rng.integers(4, 10):
            word.append(rng.choice(8, p=follow[word[-1]]))
        flipped = rng.random((len(word), 64)) < 0.3
        X.append((shapes[word] ^ flipped).astype(float))
        y.append(letters[word])
    return X, y


# X is a list with one array [length, pixels] for each word, y a list with one array [length] of letters.
if arguments.data:
    X_train, y_train = multiplane.load_letters(arguments.data, folds=0)
    X_test, y_test = multiplane.load_letters(arguments.data, folds=1)
else:
    X_train, y_train = draw_words(300, np.random.default_rng(0))
    X_test, y_test = draw_words(200, np.random.default_rng(1))
print(f"{len(X_train)} words to learn from, for instance {'-'.join(y_train[0])}; {len(X_test)} to test on")

# Letters on their own: every row is an example.
single = multiplane.MulticlassSSVM(lam=0.01, gap="5%").fit(np.concatenate(X_train), np.concatenate(y_train))
found = single.score(np.concatenate(X_test), np.concatenate(y_test))
print(f"letter by letter  {100 * found:.1f} % of the test letters right")

# Words: the same weights for pixels, and one weight for each pair of neighbours. The default loss is the share of
# wrong letters in a word; params={"task.loss": "hamming-sum"} counts them instead.
chain = multiplane.ChainSSVM(lam=0.01, gap="5%").fit(X_train, y_train)
print(f"as a chain        {100 * chain.score(X_test, y_test):.1f} % of the test letters right")
print(f"certificate       primal {chain.primal_:.5f}, dual {chain.dual_:.5f}, certified {chain.certified_}")

# coef_ is one vector: unary[label][feature], then pair[from][to].
labels, features = len(chain.classes_), X_train[0].shape[1]
pair = chain.coef_[labels * features :].reshape(labels, labels)
first, second = np.unravel_index(pair.argmax(), pair.shape)
print(f"strongest pair    {chain.classes_[first]} before {chain.classes_[second]}, weight {pair.max():.3f}")
print("a test word       " + "".join(chain.predict(X_test[:1])[0]) + ", in truth " + "".join(y_test[0]))

if arguments.plot:
    chain.history_.plot(x="seconds").figure.savefig(arguments.plot)
    print(f"curves are in {arguments.plot}")
