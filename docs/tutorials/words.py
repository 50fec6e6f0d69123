# %% [markdown]
# # Words: sequences, from the data to the command line
#
# A word is a row of letters, and letters like some neighbours better than others. A *chain* learns both at once: what a
# letter looks like, and which letter follows which. Here it learns to read made-up handwriting, then to find the phrases
# of sentences. You need NumPy and Matplotlib; the data is made on the spot.

# %%
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import multiplane

folder = tempfile.TemporaryDirectory()  # files of this page go there


def command(line):
    """Runs the program `multiplane`, which comes with the package, as a shell would."""
    done = subprocess.run([sys.executable, "-m", *shlex.split(line)], cwd=folder.name, capture_output=True, text=True)
    if done.stdout + done.stderr:
        print((done.stdout + done.stderr).rstrip())


# %% [markdown]
# ## Data
#
# `data make letters` draws words in the format of Taskar's OCR set. `X` is a list with one array `[length, 128]` for each
# word, a row of 16 x 8 pixels for each letter; `y` is a list of arrays of letters. Whatever your sequences are, this is the
# shape to bring them into.

# %%
command("multiplane data make letters --out words.data --n 500")
X, y = multiplane.load_letters(f"{folder.name}/words.data", folds=range(6))
X_test, y_test = multiplane.load_letters(f"{folder.name}/words.data", folds=range(6, 10))
print(len(X), "words to learn from,", len(X_test), "to test on; the first has the shape", X[0].shape)


# %%
def image(word):
    """The letters of a word side by side."""
    return np.hstack([np.pad(row.reshape(16, 8), 1) for row in word])


figure, axes = plt.subplots(2, 3, figsize=(7, 1.5), layout="constrained")
for ax, word, truth in zip(axes.flat, X, y):
    ax.imshow(image(word), cmap="gray_r")
    ax.set(xlim=(0, 110), anchor="W")
    ax.set_title("".join(truth), fontsize=9, loc="left")
    ax.axis("off")

# %% [markdown]
# ## Train
#
# `lam`, the strength of the regulariser, decides how well a model does on words that it has not seen. `lam="cv"` chooses it by
# cross-validation before the run that counts. `gap="2%"` ends that run once its objective is proven to be within 2 % of the
# best there is: no weights go below `dual_`, and the ones found have `primal_`. (`clock="work"` makes every number on this
# page the same on every machine; `progress=False` hides the line that shows how far it is.)

# %%
model = multiplane.ChainSSVM(lam="cv", gap="2%", clock="work", progress=False).fit(X, y)
print(f"lambda {model.lam_:.4g}, where 1/n is {1 / len(X):.4g}")
print(f"the optimum is in [{model.dual_:.5f}, {model.primal_:.5f}], certified: {model.certified_}")
print(f"letters right: {model.score(X, y):.3f} of those learned from, {model.score(X_test, y_test):.3f} of the others")

# %% [markdown]
# How lambda was chosen is in `summary_["lambda_choice"]`. The first fold goes down from where nothing is learned yet until it
# gets worse again; the others try the best point and its neighbours.

# %%
choice = model.summary_["lambda_choice"]
figure, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
for key, style, name in [("first_fold", "o:", "first fold"), ("losses", "s-", f"mean of {choice['folds']} folds")]:
    points = choice[key]
    ax.semilogx([point["lambda"] for point in points], [point["mean_loss"] for point in points], style, label=name)
ax.axvline(choice["lambda"], color="gray", linewidth=0.8)
ax.set(xlabel="lambda", ylabel="loss on words left out")
ax.legend()

# %% [markdown]
# What does the chain gain over reading letter by letter? The same letters as rows on their own:

# %%
single = multiplane.MulticlassSSVM(lam="cv", gap="2%", clock="work", progress=False)
single.fit(np.concatenate(X), np.concatenate(y))
print(f"letter by letter {single.score(np.concatenate(X_test), np.concatenate(y_test)):.3f}")
print(f"as words         {model.score(X_test, y_test):.3f}")

# %% [markdown]
# ## Look inside
#
# The weights of a chain are two tables: `unary_` says what each label looks like, `pair_` which label follows which.

# %%
figure, axes = plt.subplots(2, 13, figsize=(7.5, 2.2), layout="constrained")
largest = np.abs(model.unary_).max()
for ax, letter, weights in zip(axes.flat, model.classes_, model.unary_):
    ax.imshow(weights.reshape(16, 8), cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.set_title(letter, fontsize=9)
    ax.axis("off")

# %%
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
largest = np.abs(model.pair_).max()
shown = ax.imshow(model.pair_, cmap="RdBu_r", vmin=-largest, vmax=largest)
ax.set(xticks=range(26), xticklabels=model.classes_, yticks=range(26), yticklabels=model.classes_)
ax.tick_params(labelsize=7)
ax.set(xlabel="letter", ylabel="letter before")
figure.colorbar(shown, label="weight")
for weight in model.top_weights(4):
    if weight.table == "pair":
        print(weight.at["from"], "before", weight.at["to"], f"{weight.weight:.3f}")

# %% [markdown]
# `explain` takes one sequence apart: what features and neighbours add to the score of each letter, and by how much the letter
# wins over the best word with another letter there. Here is the first test word that is read wrongly:

# %%
found = model.predict(X_test)
wrong = next(i for i, truth in enumerate(y_test) if (found[i] != truth).any())
print("read", "".join(found[wrong]), "in the place of", "".join(y_test[wrong]))
print(model.explain(X_test[wrong]))

# %%
figure, ax = plt.subplots(figsize=(4, 1.4), layout="constrained")
ax.imshow(image(X_test[wrong]), cmap="gray_r")
ax.set_title(f"{''.join(found[wrong])}, in truth {''.join(y_test[wrong])}", fontsize=9)
ax.axis("off")

# %% [markdown]
# ## Words without labels
#
# `predict` takes `X` alone. `predict_top` lists the best labellings with their scores, `margins` says how sure each letter is.

# %%
new = X_test[:3]
for word, letters in zip(new, model.predict(new)):
    print("".join(letters), np.round(model.margins([word])[0], 2))
best = model.predict_top(new[:1], 3)[0]
for labels, score in zip(best.labels, best.scores):
    print(f"{score:.4f}  {''.join(labels)}")

# %% [markdown]
# ## Save, load, command line
#
# A model is one safetensors file. Python and the command line read and write the same.

# %%
model.save(f"{folder.name}/words.safetensors")
again = multiplane.load(f"{folder.name}/words.safetensors")
assert all((a == b).all() for a, b in zip(again.predict(X_test), found))
command("multiplane evaluate --model words.safetensors --data words.data --set data.folds=6,7,8,9")

# %% [markdown]
# The whole of it without Python:

# %%
command("""multiplane train --task chain --data words.data --set data.folds=0,1,2,3,4,5
           --lambda cv --gap 2% --clock work --out same.safetensors""")

# %%
command("multiplane predict --model same.safetensors --data words.data --set data.folds=6 --out letters.txt")
print(Path(folder.name, "letters.txt").read_text().split()[:8])

# %% [markdown]
# ## Sentences
#
# For text, a token is a tuple of columns, and a template says which of them are features: `w[0]` is the word, `p[-1]` the part of
# speech before, `p[-1]|p[0]` both together. Labels are phrases: `B-NP` begins a noun phrase, `I-NP` goes on with it.

# %%
command("multiplane data make chunks --out chunks.conll --n 300")
sentences, chunks = multiplane.load_conll(f"{folder.name}/chunks.conll")
print([tuple(token) for token in sentences[0]], list(chunks[0]), sep="\n")
tagger = multiplane.ChainSSVM(template="w[0] p[0] p[-1]|p[0]", lam="cv", gap="2%", clock="work", progress=False)
tagger.fit(sentences[:200], chunks[:200])
print(f"{tagger.score(sentences[200:], chunks[200:]):.3f} of the labels of new sentences are right")

# %% [markdown]
# Features have names now, and so have the strongest of each label:

# %%
for label, features in tagger.top_features(3).items():
    print(f"{label:6}", ", ".join(f"{name} {weight:.2f}" for name, weight in features))

# %%
print(tagger.explain(sentences[200]))

# %% [markdown]
# That is all; the files go.

# %%
folder.cleanup()

# %% [markdown]
# ## Read on
#
# * [The Python package: a guide](../python.md), and the [manual](../manual.md) of the command line
# * [segmentation.ipynb](segmentation.ipynb): labels on graphs; [oracle.ipynb](oracle.ipynb): a problem of your own
