package program

import (
	"debug/buildinfo"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Size is that of a program, in bytes.
func Size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Modules is how many modules a program is made of beside its own.
func Modules(path string) (int, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return len(info.Deps), nil
}

// Lines is how many lines of code a folder has in its Go files: not those of tests, and none that is empty or only a
// comment.
func Lines(folder string) (count int, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: it has no Go files", folder)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		count += lines(content)
	}
	return count, err
}

// lines counts those on which something of a file's code stands.
func lines(content []byte) (count int) {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, nil, 0)
	for last := 0; ; {
		at, what, text := s.Scan()
		if what == token.EOF {
			return count
		}
		if what == token.SEMICOLON && text == "\n" {
			continue
		}
		first := file.Line(at)
		end := first + strings.Count(text, "\n") // a text may go over several
		count += end - max(first-1, last)
		last = max(last, end)
	}
}
