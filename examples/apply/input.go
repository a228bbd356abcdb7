package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// manifest is an object with its place in the input, for messages.
type manifest struct {
	object *unstructured.Unstructured
	place  string
}

// objectsOf returns the objects of manifests, in their order.
func objectsOf(manifests []manifest) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(manifests))
	for i, m := range manifests {
		objects[i] = m.object
	}
	return objects
}

// readAll reads the objects of all files and folders, in their order; the files of a folder by name.
func readAll(places []string, stdin io.Reader) ([]manifest, error) {
	var manifests []manifest
	for _, place := range places {
		found, err := readPlace(place, stdin)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, found...)
	}
	return manifests, nil
}

func readPlace(place string, stdin io.Reader) ([]manifest, error) {
	if place == "-" {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return decode("standard input", text)
	}
	files, err := filesIn(place)
	if err != nil {
		return nil, err
	}
	var manifests []manifest
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := decode(file, text)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, found...)
	}
	return manifests, nil
}

// filesIn returns the files with manifests in a folder and its subfolders; the folder may be a link. For a file it
// returns the file itself. Names that begin with a dot are left out: tools have their own data there, and a mounted
// ConfigMap has copies of all its files.
func filesIn(place string) ([]string, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{place}, nil
	}
	var files []string
	err = fs.WalkDir(os.DirFS(place), ".", func(path string, entry fs.DirEntry, err error) error {
		switch hidden := path != "." && strings.HasPrefix(entry.Name(), "."); {
		case err != nil:
			return fmt.Errorf("%s: %w", place, err)
		case hidden && entry.IsDir():
			return fs.SkipDir
		case !hidden && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			files = append(files, filepath.Join(place, filepath.FromSlash(path)))
		}
		return nil
	})
	return files, err
}
