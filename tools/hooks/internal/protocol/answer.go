package protocol

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxChildren is how many children a hook may return, and maxName how long a name may be, in bytes.
const (
	maxChildren = 10_000
	maxName     = 253
)

// isName reports whether a text is fit for a message: the API server says whether it is a valid name.
func isName(name string) bool {
	return len(name) <= maxName && !strings.ContainsFunc(name, unicode.IsControl)
}

// Answer is the response of a sync or finalize hook.
type Answer struct {
	// Status is the status of the parent; nil if the hook returned none.
	Status map[string]any
	// Children are the wanted children or attachments.
	Children []*unstructured.Unstructured
	// Labels and Annotations are those that a Decorator sets on the parent. nil removes a key.
	Labels, Annotations map[string]*string
	// ResyncAfter is the time after which the hook is called again, zero for never.
	ResyncAfter time.Duration
	// Finalized: nothing is left to do for the deletion of the parent.
	Finalized bool
}

// DecodeAnswer decodes the response of a sync or finalize hook. The error names the field. With strict, unknown fields
// and fields that are there twice are errors.
func DecodeAnswer(body []byte, style definition.Style, strict bool) (answer Answer, err error) {
	d, err := decode(body, strict)
	if err != nil {
		return answer, err
	}
	known := []string{"status", names[style].children, "resyncAfterSeconds", "finalized"}
	if style == definition.Decorator {
		known = append(known, "labels", "annotations")
		answer.Labels = d.strings("labels")
		answer.Annotations = d.strings("annotations")
	}
	answer.Status = d.object("status")
	answer.Children = d.objects(names[style].children)
	answer.ResyncAfter = d.seconds("resyncAfterSeconds")
	answer.Finalized = d.boolean("finalized")
	return answer, d.done(known)
}

// seconds returns a time in seconds. Zero and less mean no time.
func (d *document) seconds(name string) time.Duration {
	value := d.fields[name]
	var seconds float64
	switch number := value.(type) {
	case nil:
	case int64:
		seconds = float64(number)
	case float64:
		seconds = number
	default:
		d.fail(name, "must be a number of seconds")
	}
	if seconds > (math.MaxInt64 / float64(time.Second) / 2) {
		d.fail(name, "%v seconds are too long", value)
		return 0
	}
	return time.Duration(max(seconds, 0) * float64(time.Second))
}

// strings returns the strings of an object. null is nil.
func (d *document) strings(name string) map[string]*string {
	found := d.object(name)
	if found == nil {
		return nil
	}
	all := make(map[string]*string, len(found))
	for key, value := range found {
		switch text := value.(type) {
		case nil:
			all[key] = nil
		case string:
			all[key] = &text
		default:
			d.fail(name+"["+key+"]", "must be a string, or null to remove it")
		}
	}
	return all
}

// objects returns a list of Kubernetes objects.
func (d *document) objects(name string) []*unstructured.Unstructured {
	list, ok := d.fields[name].([]any)
	if !ok {
		if d.fields[name] != nil {
			d.fail(name, "must be a list of objects")
		}
		return nil
	}
	if len(list) > maxChildren {
		d.fail(name, "has %d objects, at most %d are allowed", len(list), maxChildren)
		return nil
	}
	all := make([]*unstructured.Unstructured, 0, len(list))
	for i, value := range list {
		at := fmt.Sprintf("%s[%d]", name, i)
		content, ok := value.(map[string]any)
		if !ok {
			d.fail(at, "must be an object")
			continue
		}
		d.checkObject(at, content)
		all = append(all, &unstructured.Unstructured{Object: content})
	}
	return all
}

// checkObject checks the fields by which an object is known, and those that are strings in each object.
func (d *document) checkObject(at string, content map[string]any) {
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		if name, _, err := unstructured.NestedString(content, path...); err != nil || name == "" || !isName(name) {
			d.fail(at+"."+strings.Join(path, "."), "must be a string that isn't empty, of one line and at most %d bytes", maxName)
		}
	}
	if name, _, err := unstructured.NestedString(content, "metadata", "namespace"); err != nil || !isName(name) {
		d.fail(at+".metadata.namespace", "must be a string of one line and at most %d bytes", maxName)
	}
	for _, field := range []string{"labels", "annotations"} {
		if _, _, err := unstructured.NestedStringMap(content, "metadata", field); err != nil {
			d.fail(at+".metadata."+field, "must be an object of strings")
		}
	}
}

// done returns all mistakes. known are the names of the known fields.
func (d *document) done(known []string) error {
	if d.strict {
		for name := range d.fields {
			if !slices.Contains(known, name) {
				d.fail(name, "unknown field")
			}
		}
	}
	return d.err()
}
