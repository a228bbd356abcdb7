package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/smp"
)

// readAll reads files. One of the names may be -, which stands for standard input.
func readAll(stdin io.Reader, first, second string) (texts [2][]byte, err error) {
	if first == "-" && second == "-" {
		return texts, errors.New("-: standard input can be one of the two files only")
	}
	for i, name := range []string{first, second} {
		if name == "-" {
			texts[i], err = io.ReadAll(stdin)
		} else {
			texts[i], err = os.ReadFile(name)
		}
		if err != nil {
			return texts, err
		}
		if len(bytes.TrimSpace(texts[i])) == 0 {
			return texts, fmt.Errorf("%s: it is empty: want a YAML or JSON document", name)
		}
	}
	return texts, nil
}

// print writes a result in the chosen format.
func (s settings) print(stdout io.Writer, result []byte) error {
	if s.output == "json" {
		compact, err := yaml.YAMLToJSONStrict(result)
		if err != nil {
			return err
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, compact, "", "  "); err != nil {
			return err
		}
		result = append(indented.Bytes(), '\n')
	}
	_, err := stdout.Write(result)
	return err
}

// schema finds out how the fields of a manifest merge.
func (s settings) schema(name string, manifest []byte) (smp.Schema, error) {
	var object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return smp.Schema{}, fmt.Errorf("%s: it isn't the manifest of an object: %w", name, err)
	}
	kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
	if s.crd == "" {
		found := smp.SchemaFor(kind)
		if s.strict && kind.Kind != "" && !found.Known() {
			return found, fmt.Errorf("%s: it isn't known how lists of kind %q merge: give its definition by --crd, or leave --strict out", name, kind.Kind)
		}
		return found, nil
	}
	text, err := os.ReadFile(s.crd)
	if err != nil {
		return smp.Schema{}, err
	}
	var crd map[string]any
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return smp.Schema{}, fmt.Errorf("%s: %w", s.crd, err)
	}
	if defined := kindOf(crd); defined != kind.GroupKind() {
		return smp.Schema{}, fmt.Errorf("%s: it defines %s, but %s is of %s: give the definition of that", s.crd, defined, name, kind.GroupKind())
	}
	found, err := smp.SchemaFromCRD(crd, kind.Version)
	if err != nil {
		return smp.Schema{}, fmt.Errorf("%s: %w", s.crd, err)
	}
	return found, nil
}

// kindOf returns the kind that a CustomResourceDefinition defines.
func kindOf(crd map[string]any) schema.GroupKind {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	return schema.GroupKind{Group: group, Kind: kind}
}
