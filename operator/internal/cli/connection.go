package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// connection is the cluster that a command works on.
type connection struct {
	*cluster.Cluster
	host string
	// namespace is the namespace of the context.
	namespace string
	// kinds are the kinds that the operator controls. names lists their names.
	kinds []schema.GroupVersionKind
	names string
}

// attach opens the process and connects it to the cluster.
func (o *Operator) attach(cmd *cobra.Command) (*Process, *connection, error) {
	p, err := o.Open(cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	c, err := o.connect(cmd.Context(), p)
	return p, c, err
}

// connect finds the cluster. It sends no request yet, unless kinds are selected.
func (o *Operator) connect(ctx context.Context, p *Process, options ...cluster.Option) (*connection, error) {
	client, err := p.Client(ctx)
	if err != nil {
		return nil, err
	}
	api, err := cluster.New(ctx, client, append([]cluster.Option{cluster.Logger(p.Logger)}, options...)...)
	if err != nil {
		return nil, err
	}
	c := &connection{Cluster: api, host: client.Host, namespace: cluster.DefaultNamespace(p.Kubeconfig, p.Context)}
	for _, k := range o.Kinds {
		c.kinds = append(c.kinds, k.GroupVersionKind)
	}
	names := slices.Clone(o.Settings.Kinds)
	if len(o.Selectors) > 0 {
		if err := p.Prepare(ctx); err != nil {
			return nil, err
		}
		found, err := c.find(ctx, o.Selectors, p.Logger)
		if err != nil {
			return nil, err
		}
		for _, kind := range found {
			c.kinds, names = append(c.kinds, kind), append(names, kind.Kind)
		}
	}
	c.names = strings.Join(names, ", ")
	return c, nil
}

// find returns the kinds that are served and selected, and that can be listed.
func (c *connection) find(ctx context.Context, selectors []kinds.Selector, logger *slog.Logger) (found []schema.GroupVersionKind, err error) {
	all, err := c.View().(deploy.KindView).Kinds(ctx)
	if err != nil && len(all) == 0 {
		return nil, c.explained(err)
	}
	if err != nil {
		logger.Warn("kinds may be missing", "error", err)
	}
	for _, selector := range selectors {
		for _, kind := range selector.Select(all) {
			if slices.Contains(kind.Verbs, "list") && !slices.Contains(found, kind.Kind) {
				found = append(found, kind.Kind)
			}
		}
	}
	return found, nil
}

// each calls work for each of the resources and joins the errors.
func (c *connection) each(objects []*unstructured.Unstructured, work func(obj *unstructured.Unstructured) error) error {
	var errs []error
	for _, obj := range objects {
		if err := work(obj); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", deploy.RefOf(obj), c.advised(err)))
		}
	}
	return errors.Join(errs...)
}

// controlled returns the version of a kind that the operator controls.
func (c *connection) controlled(kind schema.GroupKind) (schema.GroupVersionKind, bool) {
	at := slices.IndexFunc(c.kinds, func(one schema.GroupVersionKind) bool { return one.GroupKind() == kind })
	if at < 0 {
		return schema.GroupVersionKind{}, false
	}
	return c.kinds[at], true
}

// kindOf finds the controlled kind that a word means: by the kind's name, with or without its group, as in
// shop.example.dev, or by the names that the cluster has for the kind's resource. It returns false if the word means no
// kind.
func (c *connection) kindOf(ctx context.Context, word string) (schema.GroupVersionKind, bool, error) {
	var named []schema.GroupVersionKind
	for _, kind := range c.kinds {
		if strings.EqualFold(word, kind.Kind) || strings.EqualFold(word, kind.GroupKind().String()) {
			named = append(named, kind)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], true, nil
	case len(named) > 1:
		return schema.GroupVersionKind{}, false, Usage("%s: means %s and %s: add the group", word, named[0].GroupKind(), named[1].GroupKind())
	}
	meant, err := c.Port().Kinds(ctx, word)
	for _, one := range meant {
		if kind, known := c.controlled(one.GroupKind()); known {
			return kind, true, nil
		}
	}
	// If the operator controls only one kind, any other word is the name of a resource, even if the cluster couldn't be
	// asked.
	if err != nil && len(c.kinds) > 1 {
		return schema.GroupVersionKind{}, false, c.explained(err)
	}
	return schema.GroupVersionKind{}, false, nil
}

// Advice about a cluster that doesn't answer, a login that it refuses, and a kind that it doesn't know.
const (
	advice         = "check that it runs and can be reached from here, or choose another with --context or --kubeconfig"
	loginAdvice    = "log in again, or choose another with --context or --kubeconfig"
	kindlessAdvice = "apply its CustomResourceDefinition"
)

// advised adds advice to the error of a reconcile if the cluster is the cause. It keeps the text of the error, because
// the error may have other causes, too.
func (c *connection) advised(err error) error {
	var unavailable *deploy.UnavailableError
	var unknown *deploy.KindUnknownError
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: cluster %s: %s", err, c.host, loginAdvice)
	case errors.As(err, &unavailable):
		return fmt.Errorf("%w: cluster %s: %s", err, c.host, advice)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: %s", err, kindlessAdvice)
	}
	return err
}

// explained returns the error of a single request with advice.
func (c *connection) explained(err error) error {
	var request *url.Error
	var unavailable *deploy.UnavailableError
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("cluster %s: it doesn't accept the credentials: %s", c.host, loginAdvice)
	case errors.As(err, &request):
		return fmt.Errorf("cluster %s: %w: %s", c.host, request.Err, advice)
	case errors.As(err, &unavailable):
		return fmt.Errorf("cluster %s: %w: %s", c.host, err, advice)
	}
	return c.advised(err)
}
