package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// readAll reads the objects of all files and folders, in their order; the files of a folder by name.
func readAll(places []string, stdin io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, place := range places {
		if place == "-" {
			found, err := read(stdin)
			if err != nil {
				return nil, fmt.Errorf("-: %w", err)
			}
			objects = append(objects, found...)
			continue
		}
		files, err := filesIn(place)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			objects = append(objects, found...)
		}
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("%s: no object is in there", places[0])
	}
	return objects, nil
}

// filesIn are the files with manifests in a folder and those below it, or the file itself.
func filesIn(place string) ([]string, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{place}, nil
	}
	var files []string
	err = filepath.WalkDir(place, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

func readFile(file string) ([]*unstructured.Unstructured, error) {
	stream, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	return read(stream)
}

// read reads the objects of one stream of documents, those of lists too.
func read(stream io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(stream, 4096)
	for number := 1; ; number++ {
		content := map[string]any{}
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		if len(content) == 0 {
			continue
		}
		obj := &unstructured.Unstructured{Object: content}
		if !obj.IsList() {
			objects = append(objects, obj)
			continue
		}
		list, err := obj.ToList()
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	}
}
