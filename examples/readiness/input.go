package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// readAll reads the objects of all files, in their order.
func readAll(files []string, stdin io.Reader) ([]map[string]any, error) {
	var objects []map[string]any
	stdinRead := false
	for _, file := range files {
		var text []byte
		var err error
		switch {
		case file != "-":
			text, err = os.ReadFile(file)
		case stdinRead:
			return nil, errors.New("-: standard input can be read once only")
		default:
			stdinRead = true
			if text, err = io.ReadAll(stdin); err != nil {
				err = fmt.Errorf("-: %w", err)
			}
		}
		if err != nil {
			return nil, err
		}
		read, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, read...)
	}
	return objects, nil
}

// parse returns the objects in all documents of a file, the items of lists included.
func parse(text string) ([]map[string]any, error) {
	var objects []map[string]any
	for i, d := range split(text) {
		content, err := d.decode()
		if err == nil && content != nil {
			var found []map[string]any
			found, err = objectsIn(content)
			objects = append(objects, found...)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
	}
	if len(objects) == 0 {
		return nil, errors.New("it holds no object")
	}
	return objects, nil
}

// objectsIn returns the object in a document, or the items if it is a list.
func objectsIn(content any) ([]map[string]any, error) {
	object, ok := content.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want an object, not %s", described(content))
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if text, _ := object[field].(string); text == "" {
			return nil, fmt.Errorf("the object has no %s", field)
		}
	}
	kind, _ := object["kind"].(string)
	items, there := object["items"]
	kindOfItems, isList := strings.CutSuffix(kind, "List")
	if !isList || !there && named(object) {
		return []map[string]any{object}, nil
	}
	list, ok := items.([]any)
	if !ok && items != nil {
		return nil, fmt.Errorf("%s: its items are no list, but %s", kind, described(items))
	}
	objects := make([]map[string]any, 0, len(list))
	for i, item := range list {
		if element, ok := item.(map[string]any); ok && kindOfItems != "" {
			inherit(element, object["apiVersion"], kindOfItems)
		}
		found, err := objectsIn(item)
		if err != nil {
			return nil, fmt.Errorf("%s: item %d: %w", kind, i+1, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// named reports whether object is a single object and not a list. It can't go by the kind or the items, since the kind
// of an object may also end in List, and an empty list may have no items.
func named(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name != ""
}

// inherit sets the kind of an item of a list such as PodList, since the API server returns such items without a kind.
func inherit(item map[string]any, apiVersion any, kind string) {
	if item["apiVersion"] == nil && item["kind"] == nil {
		item["apiVersion"], item["kind"] = apiVersion, kind
	}
}

// described returns a description of a value of the wrong type.
func described(content any) string {
	switch content.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprintf("%q", fmt.Sprint(content))
	}
}
