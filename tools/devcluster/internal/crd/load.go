package crd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	kind       = "CustomResourceDefinition"
	apiVersion = "apiextensions.k8s.io/v1"
)

// Definition is one CustomResourceDefinition.
type Definition struct {
	Name   string         // metadata.name
	Source string         // file that contains it
	Object map[string]any // the whole object
}

// Load reads the definitions of all paths. A path is a file or a directory. Of a directory it reads the files ending in
// .yaml, .yml or .json, without subdirectories. A name that is defined twice is an error.
func Load(paths ...string) ([]Definition, error) {
	var all []Definition
	sources := map[string]string{}
	for _, path := range paths {
		definitions, err := loadPath(path)
		if err != nil {
			return nil, err
		}
		for _, d := range definitions {
			if other, ok := sources[d.Name]; ok {
				return nil, fmt.Errorf("CRD %s is defined twice: in %s and in %s", d.Name, other, d.Source)
			}
			sources[d.Name] = d.Source
			all = append(all, d)
		}
	}
	return all, nil
}

func loadPath(path string) ([]Definition, error) {
	files, err := list(path)
	if err != nil {
		return nil, fmt.Errorf("CRDs: %w", err)
	}
	var definitions []Definition
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("CRDs: %w", err)
		}
		found, err := Parse(file, content)
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, found...)
	}
	if len(definitions) == 0 {
		return nil, fmt.Errorf("CRDs: %s holds no %s", path, kind)
	}
	return definitions, nil
}

func list(path string) ([]string, error) {
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
		extension := strings.ToLower(filepath.Ext(entry.Name()))
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, extension) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, nil
}

// Parse returns the definitions among the YAML or JSON documents of content; source names it in
// errors and results.
func Parse(source string, content []byte) ([]Definition, error) {
	var definitions []Definition
	for i, document := range split(content) {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, fmt.Errorf("CRD file %s: document %d: %w", source, i+1, err)
		}
		if object["kind"] != kind {
			continue
		}
		name, err := check(object)
		if err != nil {
			return nil, fmt.Errorf("CRD file %s: document %d: %w", source, i+1, err)
		}
		definitions = append(definitions, Definition{Name: name, Source: source, Object: object})
	}
	return definitions, nil
}

// check validates the fields that the later requests use; the API server validates the rest.
func check(object map[string]any) (name string, err error) {
	if object["apiVersion"] != apiVersion {
		return "", fmt.Errorf("apiVersion is %v, only %s is served", object["apiVersion"], apiVersion)
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ = metadata["name"].(string)
	if name == "" || strings.ContainsAny(name, "/?#% \n") {
		return "", errors.New("metadata.name is missing or not a name")
	}
	return name, nil
}

// split cuts a YAML stream at its document separators: lines that begin with three dashes.
func split(content []byte) [][]byte {
	var documents [][]byte
	start, offset := 0, 0
	for line := range bytes.Lines(content) {
		rest, ok := bytes.CutPrefix(line, []byte("---"))
		if ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			documents = append(documents, content[start:offset])
			start = offset + len(line) - len(rest)
		}
		offset += len(line)
	}
	return append(documents, content[start:])
}
