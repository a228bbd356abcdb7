package source

import (
	"go/ast"
	"regexp"
	"strings"
)

// alone matches the argument of controller-gen by which it reads only the folder of the file.
var alone = regexp.MustCompile(`(^|\s)paths="?\.(/\.\.\.)?"?(\s|$)`)

// GeneratesAlone reports whether a line for go generate makes definitions from this folder only. Such a line leaves out
// the versions of a kind in other folders.
func (f *File) GeneratesAlone() bool { return f.generating() != nil }

// GenerateFrom changes that line so that definitions are made from the folders that a pattern matches.
func (f *File) GenerateFrom(pattern string) (text []byte, changed bool, err error) {
	line := f.generating()
	if line == nil {
		return f.text, false, nil
	}
	from := f.offset(line.Pos())
	after := alone.ReplaceAllString(line.Text, "${1}paths="+pattern+"${3}")
	return []byte(string(f.text[:from]) + after + string(f.text[from+len(line.Text):])), true, nil
}

func (f *File) generating() *ast.Comment {
	for _, group := range f.tree.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:generate ") && strings.Contains(comment.Text, "controller-gen") &&
				strings.Contains(comment.Text, " crd") && alone.MatchString(comment.Text) {
				return comment
			}
		}
	}
	return nil
}
