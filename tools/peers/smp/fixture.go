package main

import (
	"embed"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/operkit/operkit/smp"
)

//go:embed testdata/*.json
var files embed.FS

// fixture has the data for both sides. It is never changed: data that a peer modifies is copied before.
type fixture struct {
	// document is a Deployment, after the same one with all patches applied.
	document, after           map[string]any
	documentBytes, afterBytes []byte
	// patches are the two strategic merge patches: one image, three lists.
	patches    []map[string]any
	patchBytes [][]byte
	// operations is a JSON patch.
	operations []byte
	schema     smp.Schema
	peerSchema strategicpatch.PatchMetaFromStruct
}

func loadFixture() (*fixture, error) {
	f := fixture{schema: smp.SchemaFor(kschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})}
	var err error
	if f.peerSchema, err = strategicpatch.NewPatchMetaFromStruct(appsv1.Deployment{}); err != nil {
		return nil, err
	}
	if f.document, f.documentBytes, err = read("deployment.json"); err != nil {
		return nil, err
	}
	f.after = f.document
	for _, name := range []string{"image.json", "lists.json"} {
		patch, text, err := read(name)
		if err != nil {
			return nil, err
		}
		f.patches, f.patchBytes = append(f.patches, patch), append(f.patchBytes, text)
		if f.after, err = smp.Strategic(f.after, patch, f.schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if f.afterBytes, err = json.Marshal(f.after); err != nil {
		return nil, err
	}
	var operations []any
	text, err := files.ReadFile("testdata/operations.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &operations); err != nil {
		return nil, fmt.Errorf("operations.json: %w", err)
	}
	f.operations, err = json.Marshal(operations)
	return &f, err
}

// read returns a file's content as a map, and as compact JSON, as an API server sends it.
func read(name string) (map[string]any, []byte, error) {
	text, err := files.ReadFile("testdata/" + name)
	if err != nil {
		return nil, nil, err
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err = json.Marshal(value)
	return value, text, err
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "smp:", err)
	os.Exit(1)
}
