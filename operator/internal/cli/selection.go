package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// selection selects the resources of the operator that a command works on. They are given as for kubectl: [KIND]
// [NAME...], or KIND/NAME.... KIND isn't needed if only one resource of the operator has the name.
type selection struct {
	namespace string
	all       bool
	labels    string
	files     []string
	// unchosen is the error if nothing is selected. If it is empty, an empty selection means all resources.
	unchosen string
}

func (s *selection) flags(command *cobra.Command) {
	set := command.Flags()
	set.StringVarP(&s.namespace, "namespace", "n", "", "namespace of the resources (default: the namespace of the context)")
	set.BoolVarP(&s.all, "all-namespaces", "A", false, "resources of all namespaces")
	set.StringVarP(&s.labels, "selector", "l", "", "resources with these labels, such as tier=prod")
	set.StringArrayVarP(&s.files, "filename", "f", nil, "file, or directory of files, that names the resources, '-' for standard input; repeatable")
}

// meaning is a selection whose kinds and names are resolved: the resources refs or, if there are none, all resources of
// the kinds with these labels.
type meaning struct {
	refs   []deploy.Ref
	kinds  []schema.GroupVersionKind
	labels labels.Selector
}

// resolve finds the resources, and reports whether they were chosen by name. If a named resource doesn't exist or a
// kind can't be listed, resolve returns an error, together with the resources that it has found.
func (s *selection) resolve(ctx context.Context, c *connection, args []string) (objects []*unstructured.Unstructured, byName bool, err error) {
	m, err := s.meaning(ctx, c, args)
	if err != nil {
		return nil, false, err
	}
	if len(m.refs) == 0 {
		if m.labels.Empty() && s.unchosen != "" {
			return nil, false, Usage("%s", s.unchosen)
		}
		objects, err = s.list(ctx, c, m)
		return objects, false, err
	}
	var errs []error
	for _, ref := range m.refs {
		obj, err := c.Port().Get(ctx, ref)
		switch {
		case err != nil:
			errs = append(errs, c.explained(err))
		case obj == nil:
			errs = append(errs, fmt.Errorf("%s: not found", ref))
		default:
			objects = append(objects, obj)
		}
	}
	return objects, true, errors.Join(errs...)
}

func (s *selection) meaning(ctx context.Context, c *connection, args []string) (m meaning, err error) {
	if s.all && s.namespace != "" {
		return m, Usage("--all-namespaces and --namespace exclude each other")
	}
	if m.labels, err = labels.Parse(s.labels); err != nil {
		return m, Usage("--selector %q: %w", s.labels, err)
	}
	if m.refs, err = s.inFiles(ctx, c); err != nil {
		return m, err
	}
	m.kinds = c.kinds
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		switch kind, is, err := c.kindOf(ctx, args[0]); {
		case err != nil:
			return m, err
		case is:
			m.kinds, args = []schema.GroupVersionKind{kind}, args[1:]
		}
	}
	for _, arg := range args {
		ref, err := s.argument(ctx, c, m.kinds, arg)
		if err != nil {
			return m, err
		}
		m.refs = append(m.refs, ref)
	}
	if len(m.refs) == 0 {
		return m, nil
	}
	if s.labels != "" || s.all {
		return m, Usage("choose resources either by name, or by --selector and --all-namespaces")
	}
	m.kinds = nil
	for _, ref := range m.refs {
		if !slices.Contains(m.kinds, ref.Kind) {
			m.kinds = append(m.kinds, ref.Kind)
		}
	}
	return m, nil
}

// inFiles returns the resources that files name.
func (s *selection) inFiles(ctx context.Context, c *connection) (refs []deploy.Ref, err error) {
	files, err := readResources("--filename", s.files)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		kind, known := c.controlled(file.object.GroupVersionKind().GroupKind())
		if !known {
			return nil, Usage("%s: this operator controls only the kinds %s", file.origin, c.names)
		}
		ref, err := s.ref(ctx, c, kind, file.object.GetNamespace(), file.object.GetName())
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// argument returns the resource that KIND/NAME means, or the resource NAME of one of the kinds.
func (s *selection) argument(ctx context.Context, c *connection, kinds []schema.GroupVersionKind, arg string) (deploy.Ref, error) {
	word, name, separated := strings.Cut(arg, "/")
	if !separated {
		name = arg
	} else {
		kind, known, err := c.kindOf(ctx, word)
		if err != nil {
			return deploy.Ref{}, err
		}
		if !known {
			return deploy.Ref{}, Usage("%s: this operator controls no %s: choose one of %s", arg, word, c.names)
		}
		kinds = []schema.GroupVersionKind{kind}
	}
	if len(kinds) != 1 {
		return s.named(ctx, c, kinds, name)
	}
	return s.ref(ctx, c, kinds[0], "", name)
}

// named returns the only resource of the kinds with a name. It returns an error if there is no such resource, if there
// are several, or if a kind can't be read, so that this isn't known. A kind that the cluster doesn't serve has none.
func (s *selection) named(ctx context.Context, c *connection, kinds []schema.GroupVersionKind, name string) (deploy.Ref, error) {
	var found []deploy.Ref
	var unread []error
	for _, kind := range kinds {
		ref, err := s.ref(ctx, c, kind, "", name)
		var obj *unstructured.Unstructured
		if err == nil {
			obj, err = c.Port().Get(ctx, ref)
		}
		switch {
		case is[*deploy.KindUnknownError](err):
		case is[*deploy.ForbiddenError](err):
			unread = append(unread, err)
		case err != nil:
			return deploy.Ref{}, c.explained(err)
		case obj != nil:
			found = append(found, ref)
		}
	}
	switch {
	case len(found) > 1:
		var candidates []string
		for _, ref := range found {
			candidates = append(candidates, kindName(kinds, ref.Kind)+"/"+name)
		}
		return deploy.Ref{}, Usage("%s: several resources have this name: give one of %s", name, strings.Join(candidates, ", "))
	case len(unread) > 0:
		return deploy.Ref{}, fmt.Errorf("%s: give KIND/%s, because not every kind can be read: %w", name, name, errors.Join(unread...))
	case len(found) == 0:
		return deploy.Ref{}, fmt.Errorf("%s: not found: no resource of the kinds %s has this name", name, c.names)
	}
	return found[0], nil
}

// is reports whether err is an error of type E, or wraps one.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// kindName returns a kind in lower case, with its group if another one of the kinds has the same name.
func kindName(kinds []schema.GroupVersionKind, kind schema.GroupVersionKind) string {
	for _, other := range kinds {
		if other != kind && strings.EqualFold(other.Kind, kind.Kind) {
			return strings.ToLower(kind.GroupKind().String())
		}
	}
	return strings.ToLower(kind.Kind)
}

// ref returns the reference of the resource name. If its kind is namespaced and namespace is empty, the resource is in
// the selected namespace.
func (s *selection) ref(ctx context.Context, c *connection, kind schema.GroupVersionKind, namespace, name string) (deploy.Ref, error) {
	scope, err := c.Port().Scope(ctx, kind)
	if err != nil {
		return deploy.Ref{}, c.explained(err)
	}
	ref := deploy.Ref{Kind: kind, Name: name}
	if scope == deploy.Namespaced {
		ref.Namespace = cmp.Or(namespace, s.namespace, c.namespace)
	}
	return ref, nil
}

// list returns all resources of the kinds in the selected namespace.
func (s *selection) list(ctx context.Context, c *connection, m meaning) (objects []*unstructured.Unstructured, err error) {
	var errs []error
	for _, kind := range m.kinds {
		scope, err := c.Port().Scope(ctx, kind)
		var found []*unstructured.Unstructured
		if err == nil {
			where := ""
			if scope == deploy.Namespaced {
				where = s.where(c)
			}
			found, err = c.Port().List(ctx, kind, where, deploy.ListOptions{Labels: m.labels})
		}
		if err != nil {
			errs = append(errs, c.explained(err))
		}
		objects = append(objects, found...)
	}
	return objects, errors.Join(errs...)
}

// where returns the selected namespace. An empty text means all namespaces.
func (s *selection) where(c *connection) string {
	if s.all {
		return ""
	}
	return cmp.Or(s.namespace, c.namespace)
}
