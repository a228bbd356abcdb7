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

// Size returns the size of a program in bytes.
func Size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Modules returns the number of modules in a program besides its own.
func Modules(path string) (int, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return len(info.Deps), nil
}

// Lines returns the number of lines of code in the Go files of a folder, without tests, empty lines and comments.
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

// lines counts the lines of a file that contain code.
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
		end := first + strings.Count(text, "\n") // a raw string may span several lines
		count += end - max(first-1, last)
		last = max(last, end)
	}
}
