package snapshot

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/release/internal/repository"
)

// licence is the file that the go command takes from the top of a repository for a module that has none.
const licence = "LICENSE"

// Files are the contents of a module's files by their paths in it, with slashes. Those of nested modules are none of
// them.
type Files map[string][]byte

// Tree reads the files of a module as the working tree has them: those that git tracks, and those that it would.
func Tree(ctx context.Context, r *repository.Repository, m repository.Module) (Files, error) {
	names, err := r.Git().Files(ctx, m.Dir)
	if err != nil {
		return nil, fmt.Errorf("files of module %s: %w", m.Dir, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[name], err = os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(name))); err != nil {
			return nil, fmt.Errorf("files of module %s: %w", m.Dir, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(r.Root, licence)); err == nil {
		all[licence] = text
	}
	return only(all, m.Dir)
}

// Revision reads the files of a module as they were at a revision.
func Revision(ctx context.Context, r *repository.Repository, m repository.Module, revision string) (Files, error) {
	all, err := r.Git().Archive(ctx, revision, m.Dir, licence)
	if err != nil {
		return nil, fmt.Errorf("files of module %s at %s: %w", m.Dir, revision, err)
	}
	return only(all, m.Dir)
}

// only picks those files of a repository that belong to the module in a folder.
func only(all map[string][]byte, dir string) (Files, error) {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	var nested []string
	for name := range all {
		rest, inside := strings.CutPrefix(name, prefix)
		if folder := path.Dir(rest); inside && path.Base(rest) == "go.mod" && folder != "." {
			nested = append(nested, folder+"/")
		}
	}
	files := Files{}
	for name, text := range all {
		rest, inside := strings.CutPrefix(name, prefix)
		if inside && !below(rest, nested) {
			files[rest] = text
		}
	}
	if _, has := files["go.mod"]; !has {
		return nil, fmt.Errorf("module %s: it has no go.mod that git knows", dir)
	}
	if _, has := files[licence]; !has && all[licence] != nil {
		files[licence] = all[licence]
	}
	return files, nil
}

func below(name string, folders []string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}
