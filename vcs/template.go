package vcs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Template is the path at which the version of a resource is checked out. It has fields in braces, such as
// "/var/cache/versions/{version}/{kind}/{namespace}/{name}". The fields are {version}, {kind}, {apiVersion},
// {namespace} and {name}, and values of the resource such as {spec[channel]} and {spec[shards][0][name]}. Write {{ and
// }} for braces. A Template is safe for concurrent use.
type Template struct {
	text  string
	base  string
	parts []part
}

// part is a text, or a field.
type part struct {
	text  string
	field string
	path  []string
}

// Values are the values of fields.
type Values struct {
	// Version is the version that the resource wants. Kind, APIVersion, Namespace and Name identify the resource. If
	// Namespace is empty, the field {namespace} is _cluster.
	Version, Kind, APIVersion, Namespace, Name string
	// Object is the resource, for fields such as {spec[channel]}.
	Object map[string]any
}

// short are the fields without brackets.
var short = map[string]func(v Values) string{
	"version":    func(v Values) string { return v.Version },
	"kind":       func(v Values) string { return v.Kind },
	"apiVersion": func(v Values) string { return v.APIVersion },
	"name":       func(v Values) string { return v.Name },
	"namespace":  func(v Values) string { return cmp.Or(v.Namespace, "_cluster") },
}

// ParseTemplate parses a template. It has to begin with a folder: all rendered paths are below the folder before the
// first field. Errors are *ConfigError.
func ParseTemplate(text string) (*Template, error) {
	refused := func(format string, args ...any) (*Template, error) {
		return nil, &ConfigError{"template", strconv.Quote(text), fmt.Errorf(format, args...)}
	}
	t := &Template{text: text}
	literal := ""
	for at := 0; at < len(text); {
		rest := text[at:]
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			literal, at = literal+rest[:1], at+2
		case rest[0] == '}':
			return refused("the brace at %d closes nothing: write }} for a brace", at)
		case rest[0] == '{':
			name, _, closed := strings.Cut(rest[1:], "}")
			if !closed {
				return refused("the brace at %d isn't closed: write {{ for a brace", at)
			}
			field, err := parseField(name)
			if err != nil {
				return refused("{%s}: %w", name, err)
			}
			t.parts = append(t.parts, part{text: literal}, field)
			literal, at = "", at+len(name)+2
		default:
			literal, at = literal+rest[:1], at+1
		}
	}
	t.parts = append(t.parts, part{text: literal})
	before := t.parts[0].text
	switch {
	case strings.ContainsRune(text, 0):
		return refused("it has a NUL character")
	case len(t.parts) == 1 && strings.TrimSpace(before) == "":
		return refused("it is empty")
	case len(t.parts) > 1 && !strings.ContainsRune(before, '/'):
		return refused("it begins with a field: begin with a folder")
	}
	for _, one := range t.parts {
		for element := range strings.SplitSeq(one.text, "/") {
			if element == ".." {
				return refused("it has the element ..")
			}
		}
	}
	t.base = filepath.Clean(before[:max(strings.LastIndexByte(before, '/'), 0)+1])
	if len(t.parts) == 1 {
		t.base = filepath.Dir(filepath.Clean(before))
	}
	return t, nil
}

// parseField parses the text between braces.
func parseField(name string) (part, error) {
	head, rest, indexed := strings.Cut(name, "[")
	if head == "" {
		return part{}, errors.New("it has no name")
	}
	if strings.ContainsAny(head, ".!:]{") {
		return part{}, errors.New("write {a[b][0]} for a nested value")
	}
	if !indexed {
		if short[head] == nil {
			return part{}, errors.New("there is no such field: use version, kind, apiVersion, namespace, name, or a value such as {spec[channel]}")
		}
		return part{field: head}, nil
	}
	path := []string{head}
	for rest = "[" + rest; rest != ""; {
		index, after, closed := strings.Cut(strings.TrimPrefix(rest, "["), "]")
		if !closed || !strings.HasPrefix(rest, "[") || index == "" || strings.ContainsAny(index, "[{") {
			return part{}, errors.New("write {a[b][0]} for a nested value")
		}
		path, rest = append(path, index), after
	}
	return part{field: name, path: path}, nil
}

// String returns the text of the template.
func (t *Template) String() string { return t.text }

// Base returns the folder below which all rendered paths are.
func (t *Template) Base() string { return t.base }

// Render returns the path for values. In a value, every byte other than A to Z, a to z, 0 to 9, dot, hyphen and
// underscore is written as %XX, and so is a leading dot. So a value never spans several folders, and different values
// have different paths. It returns a *ConfigError for a value that is missing, empty, "." or "..", and for a symbolic
// link below the base.
func (t *Template) Render(values Values) (string, error) {
	var path strings.Builder
	for _, one := range t.parts {
		if one.field == "" {
			path.WriteString(one.text)
			continue
		}
		value, err := one.value(values)
		if err == nil {
			value, err = escaped(value)
		}
		if err != nil {
			return "", &ConfigError{"template", strconv.Quote(t.text), fmt.Errorf("{%s}: %w", one.field, err)}
		}
		path.WriteString(value)
	}
	cleaned := filepath.Clean(path.String())
	if err := t.check(cleaned); err != nil {
		return "", &ConfigError{"template", strconv.Quote(t.text), err}
	}
	return cleaned, nil
}

// check refuses a path that isn't below the base, or that leads through a link.
func (t *Template) check(path string) error {
	below, err := filepath.Rel(t.base, path)
	if err != nil || !filepath.IsLocal(below) || below == "." {
		return fmt.Errorf("%s isn't below %s", path, t.base)
	}
	at := t.base
	for element := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		if strings.HasPrefix(element, "-") {
			return fmt.Errorf("%s: an element begins with a hyphen", path)
		}
		if len(element) > maxName {
			return fmt.Errorf("%s: an element is longer than %d bytes", path, maxName)
		}
		at = filepath.Join(at, element)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", at)
		}
	}
	return nil
}

// value returns the value of a field.
func (p part) value(values Values) (string, error) {
	if p.path == nil {
		return short[p.field](values), nil
	}
	var found any = values.Object
	for _, key := range p.path {
		switch container := found.(type) {
		case map[string]any:
			var there bool
			if found, there = container[key]; !there {
				return "", fmt.Errorf("the resource has no %s", key)
			}
		case []any:
			index, err := strconv.Atoi(key)
			if err != nil || index < 0 || index >= len(container) {
				return "", fmt.Errorf("the resource has no item %s", key)
			}
			found = container[index]
		default:
			return "", fmt.Errorf("the resource has no %s", key)
		}
	}
	switch value := found.(type) {
	case string:
		return value, nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case int:
		return strconv.Itoa(value), nil
	case float64:
		return "", fmt.Errorf("the resource has the number %v: write it in quotes", value)
	}
	return "", fmt.Errorf("the resource has a %T, which isn't text", found)
}

// escaped returns a value escaped for one element of a path. It escapes a leading dot, because the names of lock files
// begin with a dot.
func escaped(value string) (string, error) {
	if value == "" || value == "." || value == ".." {
		return "", fmt.Errorf("%q can't be in a path", value)
	}
	var path strings.Builder
	for i := range len(value) {
		c := value[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' && i > 0 || c == '_' || c == '-' {
			path.WriteByte(c)
			continue
		}
		fmt.Fprintf(&path, "%%%02X", c)
	}
	return path.String(), nil
}
