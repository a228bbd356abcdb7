package smp

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
)

// A model of RFC 6902 and RFC 7386 as they are written, one step after the other, for values of which
// it may write into all but the patch.

var errNaive = errors.New("refused")

func naivePatch(doc any, ops []any) (any, error) {
	for _, op := range ops {
		operation := op.(map[string]any)
		name, _ := operation["op"].(string)
		path, ok := naivePointer(operation["path"])
		if !ok {
			return nil, errNaive
		}
		value, given := operation["value"]
		value = naiveCopy(value)
		switch name {
		case "add", "replace", "test":
			if !given {
				return nil, errNaive
			}
		case "move", "copy":
			from, ok := naivePointer(operation["from"])
			if !ok || name == "move" && len(from) < len(path) && slices.Equal(from, path[:len(from)]) {
				return nil, errNaive
			}
			found, err := naiveGet(doc, from)
			if err != nil {
				return nil, err
			}
			if value = naiveCopy(found); name == "move" && !slices.Equal(from, path) {
				if doc, err = naiveChange(doc, from, "remove", nil); err != nil {
					return nil, err
				}
			}
			if name == "move" && slices.Equal(from, path) {
				continue
			}
			name = "add"
		case "remove":
		default:
			return nil, errNaive
		}
		var err error
		if name == "test" {
			found, err := naiveGet(doc, path)
			if err != nil || !document.Equal(found, value) {
				return nil, errNaive
			}
			continue
		}
		if doc, err = naiveChange(doc, path, name, value); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

func naivePointer(pointer any) (tokens []string, ok bool) {
	text, isString := pointer.(string)
	if !isString {
		return nil, false
	}
	if text == "" {
		return nil, true
	}
	if !strings.HasPrefix(text, "/") {
		return nil, false
	}
	for _, token := range strings.Split(text[1:], "/") {
		plain := strings.ReplaceAll(strings.ReplaceAll(token, "~0", ""), "~1", "")
		if strings.Contains(plain, "~") {
			return nil, false
		}
		tokens = append(tokens, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
	}
	return tokens, true
}

func naiveIndex(token string, end int) (int, error) {
	i, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(i) != token || i < 0 || i >= end {
		return 0, errNaive
	}
	return i, nil
}

func naiveGet(doc any, tokens []string) (any, error) {
	for _, token := range tokens {
		switch container := doc.(type) {
		case map[string]any:
			child, found := container[token]
			if !found {
				return nil, errNaive
			}
			doc = child
		case []any:
			i, err := naiveIndex(token, len(container))
			if err != nil {
				return nil, err
			}
			doc = container[i]
		default:
			return nil, errNaive
		}
	}
	return doc, nil
}

func naiveChange(doc any, tokens []string, name string, value any) (any, error) {
	if len(tokens) == 0 {
		if name == "remove" {
			return nil, errNaive
		}
		return value, nil
	}
	parent, err := naiveGet(doc, tokens[:len(tokens)-1])
	if err != nil {
		return nil, err
	}
	last := tokens[len(tokens)-1]
	switch parent := parent.(type) {
	case map[string]any:
		if _, found := parent[last]; !found && name != "add" {
			return nil, errNaive
		}
		if parent[last] = value; name == "remove" {
			delete(parent, last)
		}
		return doc, nil
	case []any:
		end := len(parent)
		if name == "add" {
			end++
			if last == "-" {
				last = strconv.Itoa(len(parent))
			}
		}
		i, err := naiveIndex(last, end)
		if err != nil {
			return nil, err
		}
		longer := append([]any{}, parent[:i]...)
		if name != "remove" {
			longer = append(longer, value)
		}
		if name != "add" {
			i++
		}
		longer = append(longer, parent[i:]...)
		return naiveChange(doc, tokens[:len(tokens)-1], "replace", longer)
	default:
		return nil, errNaive
	}
}

func naiveCopy(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range value {
			out[key] = naiveCopy(field)
		}
		return out
	case []any:
		out := []any{}
		for _, element := range value {
			out = append(out, naiveCopy(element))
		}
		return out
	default:
		return value
	}
}

// naiveMerge is the pseudo code of RFC 7386.
func naiveMerge(target, patch any) any {
	fields, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	object, isObject := target.(map[string]any)
	if !isObject {
		object = map[string]any{}
	}
	for name, value := range fields {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = naiveMerge(object[name], value)
		}
	}
	return object
}
