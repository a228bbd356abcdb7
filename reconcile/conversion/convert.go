package conversion

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Convert returns an object in another version. The object stays as it is. The error names the object and the version
// that it can't be converted to.
func (c *Converter[Hub]) Convert(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	content, err := c.convert(object, version)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: to version %s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), version, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func (c *Converter[Hub]) convert(object *unstructured.Unstructured, version string) (map[string]any, error) {
	from, err := schema.ParseGroupVersion(object.GetAPIVersion())
	if err != nil {
		return nil, err
	}
	if got := from.WithKind(object.GetKind()).GroupKind(); got != c.hub.GroupKind() {
		return nil, fmt.Errorf("the object is a %s, and not a %s", got, c.hub.GroupKind())
	}
	content := numberedMap(object.DeepCopy().Object)
	for _, next := range c.way(from.Version, version) {
		if content, err = c.step(content, next); err != nil {
			return nil, err
		}
	}
	if got := (&unstructured.Unstructured{Object: content}).GroupVersionKind().Version; got != version {
		return nil, fmt.Errorf("no functions convert from version %s: there are %v", from.Version, c.versions())
	}
	return content, nil
}

// hop is one step of a conversion, with the functions there and back.
type hop struct {
	from, to           string
	there, back, whole func(content map[string]any) (map[string]any, error)
}

// way returns the steps from one version to another, through the hub. Where a version isn't known, it ends early.
func (c *Converter[Hub]) way(from, to string) (hops []hop) {
	if from == to {
		return nil
	}
	if first, ok := c.spokes[from]; ok {
		hops = append(hops, hop{from, c.hub.Version, first.up, first.down, first.whole})
	} else if from != c.hub.Version {
		return nil
	}
	if last, ok := c.spokes[to]; ok {
		hops = append(hops, hop{c.hub.Version, to, last.down, last.up, c.whole})
	}
	return hops
}

// versions returns all versions, the hub first.
func (c *Converter[Hub]) versions() []string {
	return append([]string{c.hub.Version}, slices.Sorted(maps.Keys(c.spokes))...)
}

// step converts to the next version, puts back what was kept for that version, and keeps what it can't hold.
func (c *Converter[Hub]) step(content map[string]any, h hop) (map[string]any, error) {
	converted, err := h.there(content)
	if err != nil {
		return nil, err
	}
	annotations := annotationsOf(content)
	if err := c.restore(converted, annotations, h.to); err != nil {
		return nil, err
	}
	returned, err := h.back(converted)
	if err != nil {
		return nil, fmt.Errorf("back to version %s: %w", h.from, err)
	}
	if err := c.keep(content, returned, annotations, h); err != nil {
		return nil, err
	}
	setAnnotations(converted, annotations)
	return converted, nil
}
