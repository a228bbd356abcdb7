package watches

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 10 << 20

// Lookup returns a variable of the environment, and reports whether it is set. os.LookupEnv is one.
type Lookup func(name string) (value string, isSet bool)

// ReadFile reads the entries of a file in YAML or JSON, in which references to variables of the environment, such as
// ${NAME}, are replaced. The error has all mistakes, each with the file, the number of the entry, from 1 on, and the
// field; then no entry is returned.
func ReadFile(path string, environment Lookup) ([]*Entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	entries, errs := read(content, dir, environment)
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s: %w", path, err)
	}
	return entries, errors.Join(errs...)
}

// Read reads the entries of a text, as ReadFile does. Relative paths are relative to dir.
func Read(content []byte, dir string, environment Lookup) ([]*Entry, error) {
	entries, errs := read(content, dir, environment)
	return entries, errors.Join(errs...)
}

func read(content []byte, dir string, environment Lookup) ([]*Entry, []error) {
	list, err := split([]byte(expand(string(content), environment)))
	if err != nil {
		return nil, []error{err}
	}
	if len(list) == 0 {
		return nil, []error{errors.New("no entries: add one with group, version, kind, and playbook or role")}
	}
	var entries []*Entry
	var errs []error
	first := map[schema.GroupKind]int{}
	for i, item := range list {
		entry, mistakes := readEntry(item, paths{dir, environment})
		name := fmt.Sprintf("entry %d", i+1)
		if entry.Kind.Kind != "" {
			name += " (" + entry.Kind.Kind + ")"
		}
		for _, mistake := range mistakes {
			errs = append(errs, fmt.Errorf("%s: %w", name, mistake))
		}
		kind := entry.Kind.GroupKind()
		if n := first[kind]; n > 0 && kind.Kind != "" {
			errs = append(errs, fmt.Errorf("%s: kind: Duplicate value: entry %d has it already: merge the entries", name, n))
		} else {
			first[kind] = i + 1
		}
		entries = append(entries, entry)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return entries, nil
}

// split returns the items of the list that a text has.
func split(content []byte) (list []json.RawMessage, err error) {
	documents := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := yaml.YAMLToJSONStrict(document)
		switch {
		case err != nil:
			return nil, err
		case string(text) == "null": // nothing but comments
			continue
		case list != nil:
			return nil, errors.New("more than one document: put all entries into one list")
		case !strings.HasPrefix(string(text), "["):
			return nil, errors.New("not a list: begin each entry with a hyphen")
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	}
}
