package bystander

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Create creates an object and returns the object as the cluster stored it. A namespaced object is created in the
// bystander's namespace, whichever namespace obj names. Create doesn't change obj. It fails the test if the object
// exists.
func (b *Bystander) Create(obj *unstructured.Unstructured) *unstructured.Unstructured {
	b.t.Helper()
	return b.send("create", obj, func(ctx context.Context, obj *unstructured.Unstructured) (deploy.Applied, error) {
		made, err := b.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: b.name})
		return deploy.Applied{Object: made}, err
	})
}

// CreateYAML is like Create for an object in YAML or JSON. It fails the test, and creates nothing, if text doesn't hold
// exactly one object.
func (b *Bystander) CreateYAML(text string) *unstructured.Unstructured {
	b.t.Helper()
	obj, err := parse([]byte(text))
	if err != nil {
		b.t.Fatalf("bystander %s: %v:\n%s", b.name, err, text)
	}
	return b.Create(obj)
}

// CreateFile is like CreateYAML for the content of a file, such as the sample that comes with an operator.
func (b *Bystander) CreateFile(path string) *unstructured.Unstructured {
	b.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatalf("bystander %s: %v", b.name, err)
	}
	obj, err := parse(content)
	if err != nil {
		b.t.Fatalf("bystander %s: %s: %v", b.name, path, err)
	}
	return b.Create(obj)
}

// Apply sends obj by server-side apply, as the whole intent of the bystander, and returns the object as the cluster
// stored it. It takes over fields that others own. A namespaced object is applied in the bystander's namespace, as with
// Create.
func (b *Bystander) Apply(obj *unstructured.Unstructured) *unstructured.Unstructured {
	b.t.Helper()
	return b.send("apply", obj, func(ctx context.Context, obj *unstructured.Unstructured) (deploy.Applied, error) {
		return b.port.Apply(ctx, obj, deploy.ApplyOptions{FieldManager: b.name, Force: true, Whole: true})
	})
}

// send calls request with a copy of obj, in the bystander's namespace if the kind is namespaced, and returns the object
// as the cluster stored it.
func (b *Bystander) send(
	verb string, obj *unstructured.Unstructured,
	request func(context.Context, *unstructured.Unstructured) (deploy.Applied, error),
) *unstructured.Unstructured {
	b.t.Helper()
	if obj == nil {
		b.t.Fatalf("bystander %s: nil object", b.name)
	}
	obj = obj.DeepCopy()
	kind, name := obj.GroupVersionKind(), obj.GetName()
	return do(b, verb, kind, name, func(ctx context.Context, ref deploy.Ref) (deploy.Applied, error) {
		obj.SetNamespace(ref.Namespace)
		return request(ctx, obj)
	}).Object
}

// parse returns the only object in text.
func parse(text []byte) (*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, err
		}
		if string(content) == "null" { // the document has only comments
			continue
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("not an object: %w", err)
		}
		found = append(found, obj)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d objects: want exactly one", len(found))
	}
	return found[0], nil
}
