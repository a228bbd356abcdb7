package envtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// document is one object of a YAML or JSON file.
type document struct {
	file             string
	apiVersion, kind string
	text             []byte
}

// readDocuments reads a file, or the files *.yaml, *.yml and *.json of a folder without its subfolders.
func readDocuments(path string) ([]document, error) {
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := split(file, text)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, nil
}

// split returns the documents of one file; empty ones are left out.
func split(file string, text []byte) ([]document, error) {
	var documents []document
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for number := 1; ; number++ {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, number, err)
		}
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, number, err)
		}
		if head.Kind != "" {
			documents = append(documents, document{file: file, apiVersion: head.APIVersion, kind: head.Kind, text: text})
		}
	}
}
