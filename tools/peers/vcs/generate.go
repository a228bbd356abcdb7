package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
)

// history writes the input for git fast-import.
type history struct {
	fixture
	random *rand.Rand
	words  []string
	out    *bufio.Writer
	// paths are the paths in the tree, contents the contents of the files, and made is the number of all paths that
	// were ever created.
	paths    []string
	contents map[string][]byte
	made     int
}

// importInto fills a repository.
func (f fixture) importInto(folder string) error {
	command := exec.Command("git", "-C", folder, "fast-import", "--quiet")
	command.Env = environment()
	in, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	h := &history{fixture: f, random: rand.New(rand.NewPCG(f.seed, f.seed)), out: bufio.NewWriter(in), contents: map[string][]byte{}}
	h.write()
	if err := h.out.Flush(); err != nil {
		return err
	}
	if err := in.Close(); err != nil {
		return err
	}
	return command.Wait()
}

// write writes everything. An error is found when the writer is flushed.
func (h *history) write() {
	h.vocabulary()
	for range h.files {
		h.add()
	}
	for tag, name := range h.names() {
		for commit := range h.commits {
			changed := h.paths
			if tag+commit > 0 {
				changed = h.change()
			}
			h.commit(tag*h.commits+commit, changed)
		}
		if tag%4 == 3 {
			h.printf("tag %s\nfrom refs/heads/main\ntagger A <a@example.com> %d +0000\ndata 8\nrelease\n", name, h.time(tag*h.commits))
		} else {
			h.printf("reset refs/tags/%s\nfrom refs/heads/main\n\n", name)
		}
	}
}

func (h *history) printf(format string, args ...any) { fmt.Fprintf(h.out, format, args...) }

func (h *history) time(commit int) int { return 1_600_000_000 + 3600*commit }

// commit writes a commit with the changed files. Changed files that don't exist any more are deleted.
func (h *history) commit(number int, changed []string) {
	h.printf("commit refs/heads/main\nmark :%d\nauthor A <a@example.com> %d +0100\ncommitter C <c@example.com> %d +0000\n", number+1, h.time(number), h.time(number)+60)
	message := fmt.Sprintf("change %d\n", number)
	h.printf("data %d\n%s\n", len(message), message)
	for _, path := range changed {
		content, there := h.contents[path]
		if !there {
			h.printf("D %s\n", path)
			continue
		}
		mode := "100644"
		if len(content)%50 == 0 {
			mode = "100755"
		}
		h.printf("M %s inline %s\ndata %d\n", mode, path, len(content))
		_, _ = h.out.Write(content)
		h.printf("\n")
	}
	h.printf("\n")
}

// add adds a file, and returns its path.
func (h *history) add() string {
	h.made++
	kinds := []string{"deployment", "service", "role", "config", "crd", "policy"}
	path := fmt.Sprintf("charts/component-%02d/templates/%s-%d.yaml", h.made%37, kinds[h.made%len(kinds)], h.made)
	switch {
	case h.made%10 == 0:
		path = fmt.Sprintf("manifests/%d/%s/%d.json", h.made%7, kinds[h.made%5], h.made)
	case h.made%100 == 1:
		path = fmt.Sprintf("charts/component-%02d/archive-%d.tgz", h.made%37, h.made)
	}
	h.contents[path] = h.content(h.size(), h.made%100 == 1)
	h.paths = append(h.paths, path)
	return path
}

// size returns a random file size: most files are short and few are long, and their total is the size of the tree.
func (h *history) size() int {
	average := h.bytes / h.files
	switch n := h.random.IntN(100); {
	case n < 70:
		return average/20 + h.random.IntN(average/3)
	case n < 97:
		return average/2 + h.random.IntN(2*average)
	default:
		return 5*average + h.random.IntN(22*average)
	}
}

// change changes some files, and returns their paths.
func (h *history) change() (changed []string) {
	for range h.changes {
		at := h.random.IntN(len(h.paths))
		path := h.paths[at]
		switch n := h.random.IntN(20); {
		case n == 0:
			changed = append(changed, h.add())
			continue
		case n == 1 && len(h.paths) > h.files/2:
			h.paths = slices.Delete(h.paths, at, at+1)
			delete(h.contents, path)
		default:
			h.contents[path] = h.edited(h.contents[path])
		}
		changed = append(changed, path)
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

// edited returns a content with a few lines added or removed.
func (h *history) edited(content []byte) []byte {
	for range 1 + h.random.IntN(4) {
		at := h.random.IntN(len(content))
		if cut := h.random.IntN(60); h.random.IntN(2) == 0 && at+cut < len(content)-1 {
			content = slices.Concat(content[:at], content[at+cut:])
		} else {
			content = slices.Concat(content[:at], h.content(40+h.random.IntN(80), false), content[at:])
		}
	}
	return content
}

// vocabulary creates the words for texts.
func (h *history) vocabulary() {
	for range 3000 {
		word := make([]byte, 2+h.random.IntN(9))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgkjqxz"[min(h.random.IntN(26), h.random.IntN(26))]
		}
		h.words = append(h.words, string(word))
	}
}

// content returns a text or, if binary is true, bytes that can't be compressed.
func (h *history) content(size int, binary bool) []byte {
	content := make([]byte, 0, size+40)
	for len(content) < size {
		switch {
		case binary:
			content = append(content, byte(h.random.Uint32()))
		case h.random.IntN(12) == 0:
			content = fmt.Appendf(content, "\n%*s%s: %d ", 2*h.random.IntN(5), "", h.word(), h.random.IntN(100_000))
		default:
			content = append(append(content, h.word()...), ' ')
		}
	}
	return content
}

// word returns a word of the vocabulary; words at its beginning are more frequent.
func (h *history) word() string {
	return h.words[min(h.random.IntN(3000), h.random.IntN(3000), h.random.IntN(3000))]
}
