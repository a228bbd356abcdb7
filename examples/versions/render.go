package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/operkit/operkit/vcs"
)

// render executes the version's template with the values.
func (s settings) render(ctx context.Context) (text []byte, err error) {
	repository, err := vcs.Open(s.repository)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repository.Close()) }()
	version, err := find(ctx, repository, s.version)
	if err != nil {
		return nil, err
	}
	// The folder is named by the commit: after a tag was moved, another folder is used, and repositories share the
	// folders of common commits.
	folder := filepath.Join(s.cache, string(version.Ref.Commit))
	checkout, err := repository.Checkout(ctx, string(version.Ref.Commit), folder, vcs.Worktree)
	if err != nil {
		return nil, err
	}
	if text, err = execute(checkout.Path, s.template, s.values); err != nil {
		return nil, fmt.Errorf("version %s: %w", version, err)
	}
	return text, nil
}

// find finds a version by its number, in any spelling.
func find(ctx context.Context, repository *vcs.Repository, text string) (vcs.Version, error) {
	versions, err := repository.SupportedVersions(ctx)
	if err != nil {
		return vcs.Version{}, err
	}
	number, _ := vcs.CanonicalVersion(text) // a text that isn't a number is no version either
	at := slices.IndexFunc(versions, func(v vcs.Version) bool { return v.Number == number })
	if at >= 0 {
		return versions[at], nil
	}
	if len(versions) == 0 {
		return vcs.Version{}, fmt.Errorf("%s has no version: none of its tags and branches has a number for a name", repository.Path())
	}
	numbers := make([]string, len(versions))
	for i, v := range versions {
		numbers[i] = v.Number
	}
	return vcs.Version{}, fmt.Errorf("%s has no version %q: choose one of %s", repository.Path(), text, strings.Join(numbers, ", "))
}

// execute executes a template of a folder with values. A path out of the folder is an error, and so is a missing value.
func execute(folder, path string, values map[string]string) ([]byte, error) {
	files, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = files.Close() }()
	content, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it has no template %q", path)
	}
	if err != nil {
		return nil, err
	}
	parsed, err := template.New(path).Option("missingkey=error").Parse(string(content))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, values)
	return text.Bytes(), err
}
