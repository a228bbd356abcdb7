package snippet

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// read returns the text that source names: a path below root and, after a #, the name of a part.
func read(root, source string) (string, error) {
	path, name, part := strings.Cut(source, "#")
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return "", fmt.Errorf("%s: want a path that starts at the root of the repository", path)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no such file; paths start at the root of the repository", path)
	}
	if err != nil || !part {
		return string(text), err
	}
	found, ok, err := region(string(text), name)
	if !ok && err == nil && strings.HasSuffix(path, ".go") {
		found, ok, err = declaration(text, name)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case !ok:
		return "", fmt.Errorf("%s: no region and no declaration has the name %s", path, name)
	}
	return found, nil
}

var boundary = regexp.MustCompile(`^\s*(?://|#|--|<!--|/\*)\s*(region|endregion)\s+(\S+)\s*(?:-->|\*/)?\s*$`)

// region returns the lines between the comments that begin and end the region of this name, without comments of inner
// regions, and without the common indent.
func region(text, name string) (found string, ok bool, err error) {
	var lines []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bound := boundary.FindStringSubmatch(line)
		switch {
		case bound != nil && bound[2] == name && bound[1] == "region":
			if ok {
				return "", false, fmt.Errorf("region %s: it begins twice", name)
			}
			inside, ok = true, true
		case bound != nil && bound[2] == name:
			inside = false
		case inside && bound == nil:
			lines = append(lines, line)
		}
	}
	if inside {
		return "", false, fmt.Errorf("region %s: it has no end", name)
	}
	return strings.Join(unindent(lines), "\n"), ok, nil
}

// unindent removes, in place, the white space that all lines begin with. Empty lines don't count.
func unindent(lines []string) []string {
	common, first := "", true
	for _, line := range lines {
		text := strings.TrimLeft(line, " \t")
		if text == "" {
			continue
		}
		indent := strings.TrimSuffix(line, text)
		if first {
			common, first = indent, false
		}
		for !strings.HasPrefix(indent, common) {
			common = common[:len(common)-1]
		}
	}
	for i, line := range lines {
		if lines[i] = strings.TrimPrefix(line, common); strings.TrimSpace(line) == "" {
			lines[i] = ""
		}
	}
	return lines
}

// declaration returns the top-level declaration of a function, type, constant or variable, with its doc comment. A name
// like T.M stands for a method. For a name in a group it returns the whole group.
func declaration(text []byte, name string) (found string, ok bool, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", false, err
	}
	declares := regexp.MustCompile(`^(?:(?:func|type|var|const) |(?:type|var|const) \((?s:.*)\n\t)` + regexp.QuoteMeta(name) + `\b`)
	if of, method, is := strings.Cut(name, "."); is {
		declares = regexp.MustCompile(`^func \((?:\w+ )?\*?` + regexp.QuoteMeta(of) + `(?:\[[^)]*\])?\) ` + regexp.QuoteMeta(method) + `\b`)
	}
	for _, d := range file.Decls {
		begin, end := files.Position(d.Pos()).Offset, files.Position(d.End()).Offset
		if !declares.Match(text[begin:end]) {
			continue
		}
		for _, comment := range file.Comments {
			if files.Position(comment.End()).Offset == begin-1 {
				begin = files.Position(comment.Pos()).Offset
				break
			}
		}
		return string(text[begin:end]), true, nil
	}
	return "", false, nil
}
