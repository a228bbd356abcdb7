package dryrun

import (
	"maps"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/selection"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Client is a client of a Cluster whose View shows only some objects of some kinds. It is safe for concurrent use.
type Client struct {
	cluster  *Cluster
	selected selections
}

var _ deploy.Cluster = (*Client)(nil)

// selections are the selections of kinds. All objects of other kinds are shown.
type selections map[schema.GroupKind]selection.Selection

// Selected returns a client of c whose View shows only the objects of kind that match both selectors, like the option
// Selected of deploy/cluster. List returns only these objects, and Get returns other objects, too. When an object
// doesn't match any more, its event is deploy.Left. The Port of the client doesn't create objects that don't match. A
// nil selector matches all objects. c itself still shows all objects.
func (c *Cluster) Selected(kind schema.GroupKind, byLabel labels.Selector, byField fields.Selector) *Client {
	return (&Client{cluster: c}).Selected(kind, byLabel, byField)
}

// Selected returns a client that also selects objects of another kind. c isn't changed.
func (c *Client) Selected(kind schema.GroupKind, byLabel labels.Selector, byField fields.Selector) *Client {
	all := selections{}
	maps.Copy(all, c.selected)
	all[kind] = selection.Selection{Labels: byLabel, Fields: byField}
	return &Client{cluster: c.cluster, selected: all}
}

// Port returns the Port of the cluster.
func (c *Client) Port() deploy.Port { return port{c.cluster, c.selected} }

// View returns the View of the selected objects.
func (c *Client) View() deploy.View { return view{c.cluster, c.selected} }
