package fieldpath

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Parse returns the keys of a path. Keys have dots between them; a key with a dot or a slash stands in brackets and
// single quotes, after the key of its map, as in the fieldRef of a Pod: metadata.labels['example.dev/a']. It is an
// error if the path isn't valid, and if no object can have such a field.
func Parse(path string) (keys []string, err error) {
	for rest, first := path, true; first || rest != ""; first = false {
		var key string
		if key, rest, err = next(rest, first); err != nil {
			return nil, fmt.Errorf("field %q: %w", path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) > 3 && keys[0] == "metadata" && (keys[1] == "labels" || keys[1] == "annotations") {
		whole := String([]string{keys[0], keys[1], strings.Join(keys[2:], ".")})
		return nil, fmt.Errorf("field %q: %s have no fields inside: if the key has dots, use %s", path, keys[1], whole)
	}
	return keys, nil
}

// next returns the next key of a path, and the rest after it.
func next(path string, first bool) (key, rest string, err error) {
	if quoted, ok := strings.CutPrefix(path, "['"); ok {
		key, rest, ok = strings.Cut(quoted, "']")
		if !ok || key == "" {
			return "", "", errors.New("a key in brackets isn't complete: write it as ['key']")
		}
		return key, rest, nil
	}
	if !first {
		trimmed, ok := strings.CutPrefix(path, ".")
		if !ok {
			return "", "", errors.New("there is text after a key in brackets: put a dot before the next key")
		}
		path = trimmed
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	key, rest = path[:end], path[end:]
	switch {
	case key == "":
		return "", "", errors.New("a key is empty: use keys with dots between them, such as spec.size")
	case strings.HasPrefix(rest, "[") && !strings.HasPrefix(rest, "['"):
		return "", "", errors.New("lists are compared as a whole, and keys in brackets need single quotes: name the list, or write ['key']")
	case strings.ContainsAny(key, "/]'\" "):
		return "", "", fmt.Errorf("the key %q needs brackets: write the whole key as in metadata.annotations['example.dev/a']", key)
	}
	return key, rest, nil
}

// String returns the path with these keys.
func String(keys []string) string {
	var path strings.Builder
	for i, key := range keys {
		switch {
		case key == "" || strings.ContainsAny(key, "./[]'\" "):
			path.WriteString("['" + key + "']")
		case i > 0:
			path.WriteString("." + key)
		default:
			path.WriteString(key)
		}
	}
	return path.String()
}

// Within reports whether the field inner is outer, or a field inside of it.
func Within(inner, outer []string) bool {
	return len(inner) >= len(outer) && slices.Equal(inner[:len(outer)], outer)
}
