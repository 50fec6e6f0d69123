// A linear-chain structural SVM trained by dlib's cutting planes, on the letters of the OCR data: a rival, for measuring.
//
//     g++ -O3 -march=native -DNDEBUG -o dlib_chain dlib_chain.cpp -ldlib -lopenblas -lpthread
//     dlib_chain LETTERS(plain text) FOLD LAMBDA EPSILON CACHE
//
// The problem is the one of `multiplane train --task chain --set task.bias=true --set task.ends=true`: (lambda/2)|w|^2
// plus the mean hinge, Hamming loss divided by the length, d = 4082. dlib minimises |w|^2/2 + C mean hinge and stops at
// its own gap divided by C, so C = 1/lambda and EPSILON is a gap in our units. One line of JSON: seconds of training
// without reading, oracle calls over examples, primal value (an extra pass, not counted).

#include <dlib/svm.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

constexpr long LABELS = 26, PIXELS = 128, FEATURES = PIXELS + 1;
constexpr long PAIR = FEATURES * LABELS, START = PAIR + LABELS * LABELS, END = START + LABELS, DIM = END + LABELS;

struct Word {
    std::vector<std::vector<int>> on;  // pixels that are on, and the constant feature, by letter
    std::vector<int> labels;
};

using Vector = dlib::matrix<double, 0, 1>;
using Sparse = std::vector<std::pair<unsigned long, double>>;

std::vector<Word> read(const char* path, const std::string& fold) {
    std::vector<Word> words;
    std::ifstream file(path);
    std::string line;
    bool fresh = true;
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::string id, letter, next, word, position, part;
        cells >> id >> letter >> next >> word >> position >> part;
        if (part == fold) {
            if (fresh) words.emplace_back();
            std::vector<int> on;
            int pixel;
            for (int k = 0; k < PIXELS && cells >> pixel; ++k)
                if (pixel) on.push_back(k);
            on.push_back(PIXELS);
            words.back().on.push_back(std::move(on));
            words.back().labels.push_back(letter[0] - 'a');
        }
        fresh = next == "-1";
    }
    return words;
}

class Chains : public dlib::structural_svm_problem<Vector, Sparse> {
public:
    explicit Chains(const std::vector<Word>& words) : words(words) {}
    long get_num_dimensions() const override { return DIM; }
    long get_num_samples() const override { return static_cast<long>(words.size()); }
    void get_truth_joint_feature_vector(long i, Sparse& psi) const override { features(words[i], words[i].labels, psi); }
    void separation_oracle(long i, const Vector& w, double& loss, Sparse& psi) const override {
        ++calls;
        const std::vector<int> found = decode(words[i], w);
        loss = 0;
        for (size_t p = 0; p < found.size(); ++p) loss += found[p] != words[i].labels[p];
        loss /= static_cast<double>(found.size());
        features(words[i], found, psi);
    }
    double primal(const Vector& w, double lambda) const {
        double hinges = 0;
        for (long i = 0; i < get_num_samples(); ++i) {
            double loss;
            Sparse psi, truth;
            separation_oracle(i, w, loss, psi);
            get_truth_joint_feature_vector(i, truth);
            hinges += loss + dot(psi, w) - dot(truth, w);
        }
        return 0.5 * lambda * dlib::length_squared(w) + hinges / static_cast<double>(get_num_samples());
    }
    mutable long calls = 0;

private:
    static double dot(const Sparse& psi, const Vector& w) {
        double sum = 0;
        for (const auto& entry : psi) sum += entry.second * w(static_cast<long>(entry.first));
        return sum;
    }
    static void features(const Word& word, const std::vector<int>& labels, Sparse& psi) {
        psi.clear();
        for (size_t p = 0; p < labels.size(); ++p) {
            for (int k : word.on[p]) psi.emplace_back(labels[p] * FEATURES + k, 1.0);
            if (p > 0) psi.emplace_back(PAIR + labels[p - 1] * LABELS + labels[p], 1.0);
        }
        psi.emplace_back(START + labels.front(), 1.0);
        psi.emplace_back(END + labels.back(), 1.0);
    }
    // Viterbi on the scores plus the loss, with unaries summed once a position.
    std::vector<int> decode(const Word& word, const Vector& w) const {
        const size_t length = word.labels.size();
        const double each = 1.0 / static_cast<double>(length);
        std::vector<int> from(length * LABELS);
        double best[LABELS], next[LABELS];
        for (size_t p = 0; p < length; ++p) {
            for (long y = 0; y < LABELS; ++y) {
                double score = y == word.labels[p] ? 0.0 : each;
                const double* row = &w(y * FEATURES);
                for (int k : word.on[p]) score += row[k];
                next[y] = p == 0 ? score + w(START + y) : score;
                if (p + 1 == length) next[y] += w(END + y);
            }
            if (p > 0) {
                double top[LABELS];
                int came[LABELS];
                for (long y = 0; y < LABELS; ++y) { top[y] = best[0] + w(PAIR + y); came[y] = 0; }
                for (long before = 1; before < LABELS; ++before)
                    for (long y = 0; y < LABELS; ++y) {
                        const double score = best[before] + w(PAIR + before * LABELS + y);
                        if (score > top[y]) { top[y] = score; came[y] = static_cast<int>(before); }
                    }
                for (long y = 0; y < LABELS; ++y) { next[y] += top[y]; from[p * LABELS + y] = came[y]; }
            }
            std::copy(next, next + LABELS, best);
        }
        std::vector<int> labels(length);
        labels[length - 1] = static_cast<int>(std::max_element(best, best + LABELS) - best);
        for (size_t p = length - 1; p > 0; --p) labels[p - 1] = from[p * LABELS + labels[p]];
        return labels;
    }
    const std::vector<Word>& words;
};

int main(int count, char** values) {
    if (count != 6) return std::fprintf(stderr, "dlib_chain LETTERS FOLD LAMBDA(0: 1/n) EPSILON CACHE\n"), 2;
    const std::vector<Word> words = read(values[1], values[2]);
    double lambda = std::stod(values[3]);
    if (lambda == 0) lambda = 1.0 / static_cast<double>(words.size());
    Chains problem(words);
    problem.set_c(1 / lambda);
    problem.set_epsilon(std::stod(values[4]));
    problem.set_max_cache_size(std::stoul(values[5]));
    Vector w;
    const auto start = std::chrono::steady_clock::now();
    dlib::oca solver;
    solver(problem, w);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double passes = static_cast<double>(problem.calls) / static_cast<double>(words.size());
    std::printf("{\"solver\": \"dlib, cache %s\", \"n\": %zu, \"d\": %ld, \"epsilon\": %s, \"passes\": %.2f, \"train_seconds\": %.4f, \"primal\": %.8f}\n",
                values[5], words.size(), DIM, values[4], passes, seconds, problem.primal(w, lambda));
}
