package dryrun

import (
	"errors"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// complete does to a new state of an object what its schema, or its type, does by itself.
func (d *declaration) complete(obj *unstructured.Unstructured) {
	switch {
	case d.content != nil:
		tidy(metadataOf(obj)) // what isn't stored is nobody's
		d.content.complete(obj.Object)
	case d.strict:
		leaveOutEmpty(obj, d)
	}
}

// unknown returns the paths of the fields that the declaration doesn't have, and takes them
// out if that is asked.
func (d *declaration) unknown(obj *unstructured.Unstructured, prune bool) []string {
	switch {
	case d.content != nil:
		return d.content.unknown(obj.Object, prune)
	case !d.strict:
		return nil
	}
	object, err := d.object()
	if err != nil {
		return nil
	}
	p := typedPruner{types: object.Schema, remove: prune}
	p.value(obj.Object, object.TypeRef, "")
	return p.found
}

// typedPruner finds the fields that a type of Kubernetes doesn't have.
type typedPruner struct {
	types  *smd.Schema
	remove bool
	found  []string
}

func (p *typedPruner) value(value any, ref smd.TypeRef, at string) {
	atom, ok := p.types.Resolve(ref)
	if !ok {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if atom.Map != nil {
			p.object(value, atom.Map, at)
		}
	case []any:
		if atom.List != nil {
			for i, item := range value {
				p.value(item, atom.List.ElementType, at+"["+strconv.Itoa(i)+"]")
			}
		}
	}
}

func (p *typedPruner) object(content map[string]any, m *smd.Map, at string) {
	for name, item := range content {
		ref := m.ElementType
		if field, ok := m.FindField(name); ok {
			ref = field.Type
		}
		if ref.NamedType == nil && ref.Inlined == (smd.Atom{}) {
			p.found = append(p.found, at+"."+name)
			if p.remove {
				delete(content, name)
			}
			continue
		}
		p.value(item, ref, at+"."+name)
	}
}

// strictly refuses a custom resource with fields that its schema doesn't have. Of all else the
// field management itself finds them.
func (d *declaration) strictly(ref deploy.Ref, sent *unstructured.Unstructured) error {
	if d.content == nil {
		return nil
	}
	if unknown := d.unknown(sent, false); len(unknown) > 0 {
		return unknownFields(ref, unknown)
	}
	return nil
}

func unknownFields(ref deploy.Ref, paths []string) error {
	invalid := &deploy.InvalidError{Ref: ref}
	var problems []error
	for _, path := range paths {
		invalid.Causes = append(invalid.Causes, deploy.InvalidField{Field: strings.TrimPrefix(path, "."), Message: "unknown field"})
		problems = append(problems, errors.New("unknown field \""+strings.TrimPrefix(path, ".")+"\""))
	}
	invalid.Err = errors.Join(problems...)
	return invalid
}

// refused turns an error of the field management into one of package deploy.
func refused(d *declaration, ref deploy.Ref, sent *unstructured.Unstructured, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) {
		return &deploy.InvalidError{Ref: ref, Causes: misfits(d, sent), Err: err}
	}
	conflict := &deploy.ConflictError{Ref: ref, Err: err}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			conflict.Fields = append(conflict.Fields, deploy.FieldConflict{Field: cause.Field, Manager: deploy.ManagerOf(cause.Message), Message: cause.Message})
		}
	}
	return conflict
}

// misfits names what of an object doesn't fit its type.
func misfits(d *declaration, sent *unstructured.Unstructured) []deploy.InvalidField {
	object, err := d.object()
	if err != nil {
		return nil
	}
	_, err = object.FromUnstructured(sent.Object)
	var problems typed.ValidationErrors
	if !errors.As(err, &problems) {
		return nil
	}
	var causes []deploy.InvalidField
	for _, problem := range problems {
		causes = append(causes, deploy.InvalidField{Field: strings.TrimPrefix(problem.Path, "."), Message: problem.ErrorMessage})
	}
	return causes
}
