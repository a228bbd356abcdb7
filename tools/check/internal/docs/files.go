package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// packageComment tells when a package has no comment in its doc.go; a program may have it in any file.
func (s source) packageComment() string {
	for _, f := range s.files {
		if f.Doc.Text() != "" && (s.name == "main" || path.Base(f.name) == "doc.go") {
			return ""
		}
	}
	return s.dir + "/doc.go: it has no package comment, or is missing"
}

// readme tells when a module has no README.
func readme(r *repository.Repository, m repository.Module) string {
	return missingFile(r, m, "README.md", "")
}

// rows finds the rows of the table of modules in the top README.
var rows = regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(([^)]+)\) \|`)

// changelogs tells of each module in the table of the top README that has no changelog.
func changelogs(r *repository.Repository) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(r.Root, "README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return []string{"README.md: it is missing"}, nil
	}
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		for _, m := range r.Modules {
			if m.Dir == strings.Trim(row[1], "/") {
				problems = appendText(problems, missingFile(r, m, repository.ChangelogFile, ", though the top README offers the module"))
			}
		}
	}
	return problems, nil
}

// missingFile tells when a file of a module isn't there.
func missingFile(r *repository.Repository, m repository.Module, name, why string) string {
	if info, err := os.Stat(filepath.Join(r.Folder(m), name)); err == nil && info.Mode().IsRegular() {
		return ""
	}
	return fmt.Sprintf("%s/%s: it is missing%s", m.Dir, name, why)
}

// appendText appends a text that isn't empty.
func appendText(texts []string, text string) []string {
	if text == "" {
		return texts
	}
	return append(texts, text)
}
