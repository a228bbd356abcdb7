package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// decode reads the objects in YAML or JSON documents, the items of lists included. It is strict: a key that is given
// twice is an error, and whole numbers keep all their digits.
func decode(file string, text []byte) ([]manifest, error) {
	var manifests []manifest
	number := 0
	for document, err := range documents(text) {
		var content any
		if err == nil {
			content, err = value(document)
		}
		if err == nil && content == nil {
			continue // empty, or nothing but comments
		}
		number++
		place := fmt.Sprintf("%s: document %d", file, number)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		found, err := expand(place, content)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, found...)
	}
	return manifests, nil
}

// expand returns the manifest of a document, or the manifests of its items if it is a list.
func expand(place string, content any) ([]manifest, error) {
	fields, isMap := content.(map[string]any)
	if !isMap {
		return nil, fmt.Errorf("%s: is no object: it has no fields", place)
	}
	obj := &unstructured.Unstructured{Object: fields}
	if !obj.IsList() {
		return []manifest{{obj, place}}, nil
	}
	var manifests []manifest
	for i, item := range fields["items"].([]any) {
		found, err := expand(fmt.Sprintf("%s, item %d", place, i+1), item)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, found...)
	}
	return manifests, nil
}

// documents returns the documents of a text: consecutive JSON values, or YAML documents between lines of dashes. An
// error comes last.
func documents(text []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if values, isJSON, err := jsonValues(text); isJSON {
			for _, one := range values {
				if !yield(one, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
			}
			return
		}
		reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) || !yield(document, err) || err != nil {
				return
			}
		}
	}
}

// jsonValues returns the values of a text that is JSON. A text counts as JSON if all of it is JSON, or if it begins
// with a JSON value that isn't followed by dashes.
func jsonValues(text []byte) (values []json.RawMessage, isJSON bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var one json.RawMessage
		end := decoder.InputOffset()
		err := decoder.Decode(&one)
		switch {
		case errors.Is(err, io.EOF):
			return values, true, nil
		case err != nil:
			next := bytes.TrimSpace(text[end:])
			return values, yaml.IsJSONBuffer(text) && len(values) > 0 && !bytes.HasPrefix(next, []byte("---")), err
		}
		values = append(values, one)
	}
}

// value decodes a document. JSON isn't decoded as YAML, which doesn't support all escapes in JSON strings.
func value(document []byte) (content any, err error) {
	switch {
	case json.Valid(document):
		if err = checkKeys(json.NewDecoder(bytes.NewReader(document))); err == nil {
			err = utiljson.Unmarshal(document, &content)
		}
	case yaml.IsJSONBuffer(document):
		return flowValue(document)
	default:
		if mark := endMark.FindIndex(document); mark != nil && len(bytes.TrimSpace(document[mark[1]:])) > 0 {
			return nil, errors.New("something follows the line '...': put '---' between documents")
		}
		err = yaml.UnmarshalStrict(document, &content)
	}
	return content, err
}

// endMark matches the line that ends a YAML document. The YAML parser would ignore the text after it.
var endMark = regexp.MustCompile(`(?m)^\.\.\.[ \t\r]*$`)

// flowValue decodes YAML in braces as the single item of a list. Otherwise the text after the braces would be ignored.
func flowValue(document []byte) (any, error) {
	var items []any
	if err := yaml.UnmarshalStrict(slices.Concat([]byte("["), document, []byte("\n]")), &items); err != nil {
		return nil, err
	}
	if len(items) != 1 {
		return nil, fmt.Errorf("%d values stand in one document: put '---' between them", len(items))
	}
	return items[0], nil
}

// checkKeys reads one value, and returns an error if an object in it has a duplicate key.
func checkKeys(decoder *json.Decoder) error {
	token, err := decoder.Token()
	opened, nested := token.(json.Delim)
	if err != nil || !nested {
		return err
	}
	seen := map[json.Token]bool{}
	for decoder.More() {
		if opened == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return fmt.Errorf("key %q is given twice in one object", key)
			}
			seen[key] = true
		}
		if err := checkKeys(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token() // the end
	return err
}
