package dryrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// operation is one step of a JSON patch (RFC 6902).
type operation struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// jsonPatch applies the operations of body to document, which it may change, and returns
// what comes of it.
func jsonPatch(document any, body []byte) (any, error) {
	var operations []operation
	if err := json.Unmarshal(body, &operations); err != nil {
		return nil, err
	}
	for i, o := range operations {
		var err error
		if document, err = o.apply(document); err != nil {
			return nil, fmt.Errorf("operation %d, %s: %w", i+1, o.Op, err)
		}
	}
	return document, nil
}

func (o operation) apply(document any) (any, error) {
	path, err := pointer("path", o.Path)
	if err != nil {
		return nil, err
	}
	switch o.Op {
	case "remove":
		return edit(document, path, remove)
	case "add", "replace", "test":
		value, err := o.value()
		if err != nil {
			return nil, err
		}
		return put(document, o.Op, path, value)
	case "move", "copy":
		from, err := pointer("from", o.From)
		if err != nil {
			return nil, err
		}
		return transfer(document, o.Op, from, path)
	}
	return nil, errors.New("there is no such operation")
}

func (o operation) value() (any, error) {
	if o.Value == nil {
		return nil, errors.New("value is missing")
	}
	var value any
	return value, apijson.Unmarshal(o.Value, &value)
}

func put(document any, op string, path []string, value any) (any, error) {
	switch op {
	case "add":
		return edit(document, path, func(container any, key string) (any, error) { return insert(container, key, value) })
	case "replace":
		return edit(document, path, func(container any, key string) (any, error) { return set(container, key, value) })
	}
	found, err := lookup(document, path)
	if err != nil {
		return nil, err
	}
	have, _ := json.Marshal(found)
	want, err := json.Marshal(value)
	if err != nil || !bytes.Equal(have, want) {
		return nil, fmt.Errorf("%s is %s, not %s", joined(path), have, want)
	}
	return document, nil
}

func transfer(document any, op string, from, path []string) (any, error) {
	value, err := lookup(document, from)
	if err != nil {
		return nil, err
	}
	value = runtime.DeepCopyJSONValue(value)
	if op == "move" {
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return nil, fmt.Errorf("%s can't be moved into itself", joined(from))
		}
		if document, err = edit(document, from, remove); err != nil {
			return nil, err
		}
	}
	return put(document, "add", path, value)
}

// pointer splits a JSON pointer (RFC 6901).
func pointer(field string, text *string) ([]string, error) {
	if text == nil {
		return nil, errors.New(field + " is missing")
	}
	if *text == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(*text, "/")
	if !ok {
		return nil, fmt.Errorf("%s %q doesn't begin with a slash", field, *text)
	}
	tokens := strings.Split(rest, "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

func joined(path []string) string { return "/" + strings.Join(path, "/") }
