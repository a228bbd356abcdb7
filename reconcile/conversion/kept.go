package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/smp"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// kept is what a version can't hold. Both are merge patches about the same fields.
type kept struct {
	// Was has what the fields become on the way through the version, and Is what they are.
	Was map[string]any `json:"was"`
	Is  map[string]any `json:"is"`
}

func (c *Converter[Hub]) annotation(version string) string { return c.domain + "/kept-" + version }

// keep stores in annotations what is lost of an object on the way there and back, and forgets what was lost before.
func (c *Converter[Hub]) keep(content, returned map[string]any, annotations map[string]string, h hop) error {
	name := c.annotation(h.from)
	delete(annotations, name)
	written, err := h.whole(content)
	if err != nil {
		return err
	}
	is, was := bare(over(written, content)), bare(returned)
	lost := kept{}
	for _, one := range []struct {
		from, to map[string]any
		patch    *map[string]any
	}{{is, was, &lost.Was}, {was, is, &lost.Is}} {
		patch, err := smp.DiffMerge(one.from, one.to)
		if err != nil {
			return err
		}
		*one.patch, _ = patch.(map[string]any)
	}
	if len(lost.Was) == 0 && len(lost.Is) == 0 {
		return nil
	}
	text, err := json.Marshal(lost)
	if err != nil {
		return err
	}
	annotations[name] = string(text)
	return nil
}

// restore puts back into an object of a version what was kept for it, unless it was changed since, and forgets it.
func (c *Converter[Hub]) restore(content map[string]any, annotations map[string]string, version string) error {
	name := c.annotation(version)
	text, ok := annotations[name]
	if !ok {
		return nil
	}
	delete(annotations, name)
	var lost kept
	if err := apijson.Unmarshal([]byte(text), &lost); err != nil {
		return fmt.Errorf("annotation %s: it isn't what a conversion has written: remove it: %w", name, err)
	}
	for _, header := range []string{"apiVersion", "kind", "metadata"} {
		delete(lost.Is, header)
	}
	putBack(content, lost.Was, lost.Is)
	return nil
}

// putBack sets the fields of content that are as in was to what they are in is. An absent field is null in a patch.
func putBack(content, was, is map[string]any) {
	for key, value := range is {
		inner, isMap := value.(map[string]any)
		before, wasMap := was[key].(map[string]any)
		if current, ok := content[key].(map[string]any); ok && isMap && (wasMap || was[key] == nil) {
			putBack(current, before, inner)
			continue
		}
		switch {
		case !reflect.DeepEqual(content[key], was[key]):
		case value == nil:
			delete(content, key)
		default:
			content[key] = value
		}
	}
}

// bare returns content without what is the same in all versions, and without fields that are null.
func bare(content map[string]any) map[string]any {
	rest := typed.WithoutNulls(content)
	for _, header := range []string{"apiVersion", "kind", "metadata"} {
		delete(rest, header)
	}
	if status, ok := rest["status"].(map[string]any); ok && len(status) == 0 {
		delete(rest, "status")
	}
	return rest
}

// over returns the fields of both, where those of content win.
func over(written, content map[string]any) map[string]any {
	merged := maps.Clone(written)
	for key, value := range content {
		inner, isMap := value.(map[string]any)
		if before, wasMap := written[key].(map[string]any); isMap && wasMap {
			value = over(before, inner)
		}
		merged[key] = value
	}
	return merged
}

// annotationsOf returns a copy of the annotations of an object, never nil. What isn't text is left out.
func annotationsOf(content map[string]any) map[string]string {
	annotations := map[string]string{}
	metadata, _ := content["metadata"].(map[string]any)
	given, _ := metadata["annotations"].(map[string]any)
	for key, value := range given {
		if text, ok := value.(string); ok {
			annotations[key] = text
		}
	}
	return annotations
}

// setAnnotations gives an object its own metadata with these annotations.
func setAnnotations(content map[string]any, annotations map[string]string) {
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	delete(metadata, "annotations")
	if len(annotations) > 0 {
		values := make(map[string]any, len(annotations))
		for key, text := range annotations {
			values[key] = text
		}
		metadata["annotations"] = values
	}
	content["metadata"] = metadata
}
