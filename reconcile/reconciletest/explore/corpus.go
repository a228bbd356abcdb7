package explore

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kept is a finding in a file.
type kept struct{ file, line string }

// readCorpus returns the findings in a folder, in the order of the files' names. A folder that doesn't exist has none.
func readCorpus(folder string) (all []kept, err error) {
	if folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w: give a folder that the test can read", folder, err)
	}
	for _, entry := range entries {
		if entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		file := filepath.Join(folder, entry.Name())
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("corpus %s: %w: make it readable, or delete it", file, err)
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
			return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")
		})
		if len(lines) != 1 {
			return nil, fmt.Errorf("corpus %s: %d lines to replay: keep one, or delete the file", file, len(lines))
		}
		all = append(all, kept{file, strings.TrimSuffix(lines[0], "\r")})
	}
	return all, nil
}

// replayCorpus follows the findings in the folder of the option Corpus. Their states don't count.
func (e *explorer) replayCorpus(lives []life) error {
	corpus, err := readCorpus(e.options.corpus)
	if err != nil {
		return err
	}
	defer func(visited int) { e.visited = visited }(e.visited)
	for _, one := range corpus {
		before := len(e.findings)
		if err := e.replay(one.line, lives, true); err != nil {
			return fmt.Errorf("corpus %s: %w: delete the file if what it is about no longer exists", one.file, err)
		}
		for _, f := range e.findings[before:] {
			f.file = one.file
		}
	}
	return nil
}

// keep writes the findings that aren't in a file yet to the folder of the option Corpus.
func (e *explorer) keep() error {
	if e.options.corpus == "" {
		return nil
	}
	for _, f := range e.findings {
		if f.file != "" {
			continue
		}
		if err := f.write(e.options.corpus); err != nil {
			return fmt.Errorf("corpus %s: %w: give a folder that the test can write to", e.options.corpus, err)
		}
	}
	return nil
}

// write writes the finding to a file of a folder, whose name follows from the line to replay. A file that exists is
// left as it is.
func (f *finding) write(folder string) error {
	line := f.replay()
	if strings.ContainsAny(line, "\r\n") {
		return fmt.Errorf("line %q: a line break can't be kept", line)
	}
	file := filepath.Join(folder, fmt.Sprintf("%x", sha256.Sum256([]byte(line)))[:16])
	if _, err := os.Stat(file); err == nil || !os.IsNotExist(err) {
		f.file = file
		return err
	}
	story := "# " + strings.ReplaceAll(f.story(), "\n", "\n# ")
	if err := writeFile(file, story+"\n"+line+"\n"); err != nil {
		return err
	}
	f.file = file
	return nil
}

// writeFile writes a file as a whole or not at all, and makes its folder.
func writeFile(file, content string) error {
	if err := os.MkdirAll(filepath.Dir(file), fs.ModePerm); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".explore-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.WriteString(content)
	if err == nil {
		err = temporary.Chmod(0o644)
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}
