package operator

import (
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

// selection is which resources of the operator a command is about, said as kubectl is told it: [KIND] [NAME...], or
// KIND/NAME...; of one kind there is no need to name it.
type selection struct {
	namespace string
	all       bool
	labels    string
	files     []string
	// unchosen is what somebody is told who chose nothing; empty if all are meant then.
	unchosen string
}

func (s *selection) flags(command *cobra.Command) {
	set := command.Flags()
	set.StringVarP(&s.namespace, "namespace", "n", "", "namespace of the resources (default: that of the context)")
	set.BoolVarP(&s.all, "all-namespaces", "A", false, "resources of all namespaces")
	set.StringVarP(&s.labels, "selector", "l", "", "resources with these labels, such as tier=prod")
	set.StringArrayVarP(&s.files, "filename", "f", nil, "resources that files name, or directories of files, '-' for standard input; repeatable")
}

// chosen are resources that somebody chose.
type chosen struct {
	objects []*unstructured.Unstructured
	// byName tells that each was named.
	byName bool
}

// resolve finds the resources. One that is named and isn't there is an error; of several errors all are told. What can't be
// listed is one, beside the resources that can.
func (s *selection) resolve(ctx context.Context, c *connection, kinds []schema.GroupVersionKind, args []string) (chosen, error) {
	refs, kinds, selector, err := s.meant(ctx, c, kinds, args)
	if err != nil {
		return chosen{}, err
	}
	if len(refs) == 0 && selector.Empty() && s.unchosen != "" {
		return chosen{}, usage("%s", s.unchosen)
	}
	if len(refs) == 0 {
		objects, err := s.list(ctx, c, kinds, selector)
		return chosen{objects, false}, err
	}
	var objects []*unstructured.Unstructured
	var errs []error
	for _, ref := range refs {
		obj, err := c.Port().Get(ctx, ref)
		var absent *deploy.NotFoundError
		switch {
		case errors.As(err, &absent):
			errs = append(errs, fmt.Errorf("%s: there is none", ref))
		case err != nil:
			errs = append(errs, c.explained(err))
		default:
			objects = append(objects, obj)
		}
	}
	return chosen{objects, true}, errors.Join(errs...)
}

// meant are the resources that are named, or else the kinds whose resources are, with the labels that they have to have.
func (s *selection) meant(
	ctx context.Context, c *connection, kinds []schema.GroupVersionKind, args []string,
) (refs []deploy.Ref, of []schema.GroupVersionKind, selector labels.Selector, err error) {
	if s.all && s.namespace != "" {
		return nil, nil, nil, usage("--all-namespaces and --namespace exclude each other")
	}
	if selector, err = labels.Parse(s.labels); err != nil {
		return nil, nil, nil, usage("--selector %q: %w", s.labels, err)
	}
	refs, of, err = s.named(ctx, c, kinds, args)
	if err == nil && len(refs) > 0 && (s.labels != "" || s.all) {
		err = usage("resources are chosen by name, or by --selector and --all-namespaces")
	}
	return refs, of, selector, err
}

// list are all resources of kinds where the selection looks.
func (s *selection) list(ctx context.Context, c *connection, kinds []schema.GroupVersionKind, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	var errs []error
	for _, kind := range kinds {
		scope, err := c.Port().Scope(ctx, kind)
		if err != nil {
			errs = append(errs, c.explained(err))
			continue
		}
		where := ""
		if scope == deploy.Namespaced {
			where = s.where(c)
		}
		found, err := c.Port().List(ctx, kind, where, deploy.ListOptions{Labels: selector})
		if err != nil {
			errs = append(errs, c.explained(err))
		}
		objects = append(objects, found...)
	}
	return objects, errors.Join(errs...)
}

// where is the namespace that the selection looks in, empty for all.
func (s *selection) where(c *connection) string {
	switch {
	case s.all:
		return ""
	case s.namespace != "":
		return s.namespace
	}
	return c.namespace
}

// named are the resources that arguments and files name, and the kinds that are meant.
func (s *selection) named(ctx context.Context, c *connection, kinds []schema.GroupVersionKind, args []string) (refs []deploy.Ref, of []schema.GroupVersionKind, err error) {
	files, err := readResources("--filename", s.files)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		ref := deploy.RefOf(file.object)
		at := slices.IndexFunc(kinds, func(kind schema.GroupVersionKind) bool { return kind.GroupKind() == ref.Kind.GroupKind() })
		if at < 0 {
			return nil, nil, usage("%s: it is of no kind that this operator controls: %s", file.origin, names(kinds))
		}
		if ref, err = s.ref(ctx, c, kinds[at], ref.Namespace, ref.Name); err != nil {
			return nil, nil, err
		}
		refs = append(refs, ref)
	}
	of = kinds
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		kind, found, err := kindOf(ctx, c, kinds, args[0])
		if err != nil {
			return nil, nil, err
		}
		if found {
			of, args = []schema.GroupVersionKind{kind}, args[1:]
		}
	}
	for _, arg := range args {
		kind, name, separated := strings.Cut(arg, "/")
		one := of
		if !separated {
			name = arg
		} else {
			found, known, err := kindOf(ctx, c, kinds, kind)
			if err != nil {
				return nil, nil, err
			}
			if !known {
				return nil, nil, usage("%s: this operator controls no %s: choose of %s", arg, kind, names(kinds))
			}
			one = []schema.GroupVersionKind{found}
		}
		if len(one) != 1 {
			return nil, nil, usage("%s: of which kind? Say KIND/%s, with a kind of %s", arg, name, names(kinds))
		}
		ref, err := s.ref(ctx, c, one[0], "", name)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, ref)
	}
	return refs, of, nil
}

// ref is a resource of a name, in the namespace that holds if its kind has namespaces.
func (s *selection) ref(ctx context.Context, c *connection, kind schema.GroupVersionKind, namespace, name string) (deploy.Ref, error) {
	scope, err := c.Port().Scope(ctx, kind)
	if err != nil {
		return deploy.Ref{}, c.explained(err)
	}
	ref := deploy.Ref{Kind: kind, Name: name}
	if scope == deploy.Namespaced {
		if ref.Namespace = namespace; namespace == "" {
			if ref.Namespace = s.namespace; ref.Namespace == "" {
				ref.Namespace = c.namespace
			}
		}
	}
	return ref, nil
}

// kindOf finds the kind that a word means: the kind itself, or as the cluster calls its resource.
func kindOf(ctx context.Context, c *connection, kinds []schema.GroupVersionKind, word string) (schema.GroupVersionKind, bool, error) {
	for _, kind := range kinds {
		if strings.EqualFold(word, kind.Kind) {
			return kind, true, nil
		}
	}
	meant, err := c.Port().Kinds(ctx, word)
	for _, kind := range kinds {
		if slices.ContainsFunc(meant, func(one schema.GroupVersionKind) bool { return one.GroupKind() == kind.GroupKind() }) {
			return kind, true, nil
		}
	}
	if err != nil && len(kinds) > 1 {
		return schema.GroupVersionKind{}, false, c.explained(err)
	}
	// Of one kind the word is a name, whatever else of the cluster can't be asked.
	return schema.GroupVersionKind{}, false, nil
}

func names(kinds []schema.GroupVersionKind) string {
	all := make([]string, len(kinds))
	for i, kind := range kinds {
		all[i] = kind.Kind
	}
	return strings.Join(all, ", ")
}
