package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are the kinds of objects that are kept, those first that are deleted first.
var kinds = []schema.GroupVersionKind{validatingKind, mutatingKind, bindingKind, policyKind, definitionKind}

// Owner is the operator to which objects belong.
type Owner struct {
	// Name is the operator's name, and Domain the domain of its labels.
	Name, Domain string
}

func (o Owner) key() string { return o.Domain + "/webhooks" }

// KeyDomain is the domain of the annotations that are written with the objects. It isn't that of the operator, since
// others of its parts may apply the same definitions.
func (o Owner) KeyDomain() string { return "webhooks." + o.Domain }

// Selector selects the objects of the operator.
func (o Owner) Selector() labels.Selector { return labels.SelectorFromSet(labels.Set{o.key(): o.Name}) }

// Selected are options of a cluster: it watches only the objects of the operator.
func (o Owner) Selected() (options []cluster.Option) {
	for _, kind := range kinds {
		options = append(options, cluster.Selected(kind.GroupKind(), o.Selector(), fields.Everything()))
	}
	return options
}

func (o Owner) mark(object *unstructured.Unstructured) {
	object.SetLabels(map[string]string{o.key(): o.Name})
}

// Find lists the objects of the operator, past any cache, in the order in which they can be deleted.
func (o Owner) Find(ctx context.Context, port deploy.Port) (all []*unstructured.Unstructured, err error) {
	for _, kind := range kinds {
		found, err := port.List(ctx, kind, "", deploy.ListOptions{Labels: o.Selector()})
		if _, unknown := errors.AsType[*deploy.KindUnknownError](err); unknown {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func absent(err error) bool {
	_, is := errors.AsType[*deploy.NotFoundError](err)
	return is
}
