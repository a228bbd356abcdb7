package envtest

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const (
	crdKind       = "CustomResourceDefinition"
	crdAPIVersion = "apiextensions.k8s.io/v1"
	// fieldManager is the field manager of everything that this package applies.
	fieldManager = "envtest"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definition is a custom resource definition from a file, with its state in the cluster.
type definition struct {
	object *unstructured.Unstructured
	file   string

	fresh bool   // apply has created or changed it in the cluster
	id    string // identifies this state of the definition
}

// readDefinitions reads the definitions of files and folders. It returns an error if a path has no definition, or if
// two definitions have the same name.
func readDefinitions(paths []string) ([]*definition, error) {
	var all []*definition
	files := map[string]string{}
	for _, path := range paths {
		documents, err := readDocuments(path)
		if err != nil {
			return nil, fmt.Errorf("CRDs: %w", err)
		}
		found := false
		for _, document := range documents {
			if document.kind != crdKind {
				continue
			}
			read, err := newDefinition(document)
			if err != nil {
				return nil, err
			}
			if other, twice := files[read.object.GetName()]; twice {
				return nil, fmt.Errorf("CRDs: %s is in %s and in %s", read.object.GetName(), other, read.file)
			}
			files[read.object.GetName()] = read.file
			all, found = append(all, read), true
		}
		if !found {
			return nil, fmt.Errorf("CRDs: %s holds no %s", path, crdKind)
		}
	}
	return all, nil
}

func newDefinition(document document) (*definition, error) {
	if document.apiVersion != crdAPIVersion {
		return nil, fmt.Errorf("CRDs: %s: apiVersion %q isn't served: use %s", document.file, document.apiVersion, crdAPIVersion)
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document.text, &u.Object); err != nil {
		return nil, fmt.Errorf("CRDs: %s: %w", document.file, err)
	}
	if u.GetName() == "" {
		return nil, fmt.Errorf("CRDs: %s: a definition has no metadata.name", document.file)
	}
	// Generators write these fields, but users don't intend to apply them.
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return &definition{object: u, file: document.file}, nil
}

// apply applies the definition of a file to the cluster, and records whether that changed anything.
func (p *plane) apply(ctx context.Context, d *definition) error {
	name := d.object.GetName()
	before, err := p.client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("CRD %s: %w", name, err)
	}
	after, err := p.client.Resource(definitions).Apply(ctx, name, d.object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("CRD %s of %s: %w", name, d.file, err)
	}
	d.fresh = before == nil || before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration()
	d.id = fmt.Sprintf("%s/%d", after.GetUID(), after.GetGeneration())
	return nil
}

// established waits until the API server serves the definition's resources.
func (p *plane) established(ctx context.Context, d *definition) error {
	name := d.object.GetName()
	return until(ctx, 2*time.Millisecond, func() (bool, error) {
		live, err := p.client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, fmt.Errorf("CRD %s: %w", name, err)
		}
		// The conditions are null, not absent, until a controller has written them.
		conditions, _, _ := unstructured.NestedFieldNoCopy(live.Object, "status", "conditions")
		list, _ := conditions.([]any)
		for _, entry := range list {
			condition, _ := entry.(map[string]any)
			switch {
			case condition["type"] == "NamesAccepted" && condition["status"] == "False":
				return false, fmt.Errorf("CRD %s: its names aren't accepted: %v", name, condition["message"])
			case condition["type"] == "Established" && condition["status"] == "True":
				return true, nil
			}
		}
		return false, nil
	})
}

// kinds returns the versions of the definition's kind that are served.
func (d *definition) kinds() []schema.GroupVersionKind {
	group, _, _ := unstructured.NestedString(d.object.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(d.object.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(d.object.Object, "spec", "versions")
	var kinds []schema.GroupVersionKind
	for _, entry := range versions {
		version, _ := entry.(map[string]any)
		if name, _ := version["name"].(string); name != "" && version["served"] == true {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: name, Kind: kind})
		}
	}
	return kinds
}
