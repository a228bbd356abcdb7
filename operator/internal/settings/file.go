package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// readFile sets the keys that neither a flag nor the environment sets.
func (s *Settings) readFile() {
	name := s.flags.Lookup(fileKey).Value.String()
	if name == "" {
		return
	}
	content, err := os.ReadFile(name)
	if err != nil {
		s.problems = append(s.problems, fmt.Sprintf("%s: %v", s.origins[fileKey].said(fileKey, name), errors.Unwrap(err)))
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, another yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return
	case err != nil:
		s.problems = append(s.problems, fmt.Sprintf("%s: invalid YAML: %v", name, err))
		return
	}
	if err := decoder.Decode(&another); !errors.Is(err, io.EOF) {
		s.problems = append(s.problems, fmt.Sprintf("%s: it holds several documents: put the settings into one", name))
		return
	}
	f := file{s, name, map[string]int{}}
	f.read("", document.Content[0])
}

// file is the file with settings while it is read.
type file struct {
	*Settings
	name string
	// lines maps each key that was read to its line.
	lines map[string]int
}

// read sets the keys of a node, whose own key is path.
func (f *file) read(path string, node *yaml.Node) {
	if node.Kind == yaml.AliasNode && node.Alias.Kind != yaml.MappingNode { // a map could contain its own alias
		node = node.Alias
	}
	flag := f.flags.Lookup(path)
	switch {
	case node.Tag == "!!null":
	case node.Kind == yaml.MappingNode && flag == nil:
		f.readMap(path, node)
	case node.Kind == yaml.AliasNode:
		f.problem(node, "an alias can't stand for a map: write the map out")
	case path == "":
		f.problem(node, "the settings must be a map of keys")
	case path == fileKey:
		f.problem(node, "a file with settings can't name another file")
	case flag == nil:
		f.mistake(f.about(node, fmt.Sprintf("%s: there is no such setting%s", path, Suggestion(path, f.Keys(), ""))))
	case f.lines[path] > 0:
		f.problem(node, fmt.Sprintf("%s is set in line %d already", path, f.lines[path]))
	default:
		f.lines[path] = node.Line
		f.readValue(path, node)
	}
}

// readMap sets the keys below a key. A key with dots is a path, too.
func (f *file) readMap(path string, node *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i].Value
		if path != "" {
			key = path + "." + key
		}
		f.read(key, node.Content[i+1])
	}
}

func (f *file) readValue(key string, node *yaml.Node) {
	from := Origin{File, f.name, node.Line}
	counts := f.origins[key].Source < File
	switch node.Kind {
	case yaml.ScalarNode:
		// The text is used as it was written, so that 1.10 stays a version.
		if counts {
			f.set(key, from, strings.TrimSpace(node.Value))
		}
	case yaml.SequenceNode:
		var items []string
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				f.problem(item, fmt.Sprintf("%s: each item of the list is one value", key))
				return
			}
			items = append(items, item.Value)
		}
		if counts {
			f.setList(key, from, items)
		}
	default:
		f.problem(node, fmt.Sprintf("%s: it takes a value, not a map", key))
	}
}

func (f *file) problem(at *yaml.Node, text string) {
	f.problems = append(f.problems, f.about(at, text))
}

// about adds the place in the file to a text.
func (f *file) about(at *yaml.Node, text string) string {
	return fmt.Sprintf("%s:%d: %s", f.name, at.Line, text)
}

// Environment returns the environment for a child process that reads the same file: environ, with the variable of
// --config set to the absolute path of the file. A flag may have named the file. If there is no file, the variable is
// removed.
func (s *Settings) Environment(environ []string) []string {
	names := s.prefix + variable(fileKey) + "="
	others := slices.DeleteFunc(slices.Clone(environ), func(one string) bool { return strings.HasPrefix(one, names) })
	name := s.flags.Lookup(fileKey).Value.String()
	if name == "" {
		return others
	}
	if whole, err := filepath.Abs(name); err == nil {
		name = whole
	}
	return append(others, names+name)
}

// Keys returns the keys of all settings.
func (s *Settings) Keys() []string {
	var keys []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != fileKey {
			keys = append(keys, f.Name)
		}
	})
	return keys
}
