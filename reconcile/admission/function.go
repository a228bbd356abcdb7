package admission

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
)

// Operation is what a request does.
type Operation = admissionv1.Operation

// The operations.
const (
	Create  = admissionv1.Create
	Update  = admissionv1.Update
	Delete  = admissionv1.Delete
	Connect = admissionv1.Connect
)

// anySubresource stands for an object and all its subresources.
const anySubresource = "*"

// function is a registered Func, for any T.
type function struct {
	name string
	// operations and subresources are nil for the defaults.
	operations   []Operation
	subresources []string
	// call returns the content of the object after the call, nil if that hasn't changed.
	call func(ctx context.Context, c *call) (map[string]any, error)
}

// Option is an option of a function. nil is ignored.
type Option func(*function)

// On sets the operations for which the function is called; default Create and Update. For Delete Request.Object is nil,
// and Request.Old is the object.
func On(operations ...Operation) Option {
	return func(f *function) { f.operations = append([]Operation{}, operations...) }
}

// Subresources sets for which subresources the function is called, such as "status" or "scale"; the default is the
// object itself, which is "". "*" is the object and all its subresources.
func Subresources(names ...string) Option {
	return func(f *function) { f.subresources = append([]string{}, names...) }
}

// handles returns the operations and subresources for which the function is called.
func (f *function) handles() (operations []Operation, subresources []string) {
	operations, subresources = f.operations, f.subresources
	if operations == nil {
		operations = []Operation{Create, Update}
	}
	if subresources == nil {
		subresources = []string{""}
	}
	return operations, subresources
}

// about reports whether the function is called for a request.
func (f *function) about(r *admissionv1.AdmissionRequest) bool {
	operations, subresources := f.handles()
	return slices.Contains(operations, r.Operation) &&
		(slices.Contains(subresources, r.SubResource) || slices.Contains(subresources, anySubresource))
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// mistakes returns mistakes of the name and the options.
func (f *function) mistakes() (errs []error) {
	if len(f.name) > 63 || !nameForm.MatchString(f.name) {
		errs = append(errs, fmt.Errorf("the name isn't valid: use at most 63 of a-z, 0-9 and hyphens, such as check-size"))
	}
	operations, subresources := f.handles()
	if len(operations) == 0 {
		errs = append(errs, fmt.Errorf("no operation: the function would never be called: name one"))
	}
	for _, operation := range operations {
		if !slices.Contains([]Operation{Create, Update, Delete, Connect}, operation) {
			errs = append(errs, fmt.Errorf("unknown operation %q: use Create, Update, Delete or Connect", operation))
		}
	}
	if len(subresources) == 0 {
		errs = append(errs, fmt.Errorf("no subresource: the function would never be called: name one, or \"\" for the object itself"))
	}
	return errs
}
