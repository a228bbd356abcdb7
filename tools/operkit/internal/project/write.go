package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Outcome is the result for a file.
type Outcome string

// The outcomes.
const (
	Created Outcome = "created"
	Edited  Outcome = "edited"
	// Same means that the file existed already, and that nothing had to be changed.
	Same Outcome = "exists"
	// Kept means that the file has other content, which wasn't changed.
	Kept Outcome = "kept"
)

// shown is how many files the error about a folder that isn't empty lists.
const shown = 5

// CheckEmpty returns an error if dir exists and contains anything but .git.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	var names []string
	for _, entry := range entries {
		if entry.Name() != ".git" {
			names = append(names, entry.Name())
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case len(names) > shown:
		names = append(names[:shown], fmt.Sprintf("%d more", len(names)-shown))
	}
	return fmt.Errorf("%s: isn't empty: it contains %s: name another folder by --dir, or empty it", dir, strings.Join(names, ", "))
}

// Create writes new files below dir, all of them or none.
func Create(dir string, files []File) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, path := range slices.Backward(made) {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file.Path))
		folders, err := makeFolders(filepath.Dir(path))
		made = append(made, folders...)
		if err != nil {
			return err
		}
		if err := create(path, file.Text); err != nil {
			return err
		}
		made = append(made, path)
	}
	return nil
}

// makeFolders creates a folder and its parents, and returns the folders that it has created, parents first.
func makeFolders(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = makeFolders(filepath.Dir(dir)); err != nil {
		return made, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return made, err
	}
	return append(made, dir), nil
}

// create writes a new file, completely or not at all.
func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Keep writes a file below dir, unless it exists already: an existing file isn't changed.
func Keep(dir string, file File) (Outcome, error) {
	path := filepath.Join(dir, filepath.FromSlash(file.Path))
	before, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(before, file.Text):
		return Same, nil
	case err == nil:
		return Kept, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return Created, Create(dir, []File{file})
}

// Replace replaces the text of an existing file, completely or not at all. Its mode stays.
func Replace(path string, text []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	beside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(beside.Name()))
		}
	}()
	_, err = beside.Write(text)
	if err = errors.Join(err, beside.Chmod(info.Mode().Perm()), beside.Close()); err != nil {
		return err
	}
	return os.Rename(beside.Name(), path)
}
