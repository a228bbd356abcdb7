package reconcile

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/internal/document"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// YAML is text that holds objects, for Session.Add and Component.Add: one or several documents, of which empty ones count
// for nothing and a List for its items. Keys that stand twice are a mistake. For text that is made from a resource use
// package templates.
type YAML string

// objects are those of the text.
func (y YAML) objects() ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	var errs []error
	for _, d := range document.Split(string(y)) {
		value, problems := d.Decode()
		for _, p := range problems {
			errs = append(errs, fmt.Errorf("YAML: line %d: %s", d.Line+max(p.Line, 1)-1, p.Text))
		}
		if len(problems) > 0 || value == nil {
			continue
		}
		found, err := document.Objects(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("YAML: line %d: %w", d.FirstLine(), err))
		}
		for _, content := range found {
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
	if len(objects) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("YAML: the text holds no object"))
	}
	return objects, errors.Join(errs...)
}
