package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/operkit/operkit/deploy/internal/selection"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Default client-side limits. The API server protects itself by priority and fairness. These limits only keep a faulty
// program from flooding it.
const (
	defaultQPS   = 200
	defaultBurst = 400
)

// defaultLimit is the default time limit of a request: a little more than the time after which an API server ends a
// request.
const defaultLimit = 70 * time.Second

// Cluster is one API server. It is safe for concurrent use.
type Cluster struct {
	requests  *requests
	resources *resources
	store     *store
	warnings  *warnings
}

// Option changes a default of New. A nil Option is ignored.
type Option func(*options)

type options struct {
	namespaces        []string
	namespaceSelector labels.Selector
	metadataOnly      map[schema.GroupKind]bool
	selected          map[schema.GroupKind]selection.Selection
	logger            *slog.Logger
}

// Namespaces limits the watches of namespaced kinds to these namespaces, in addition to the namespaces of earlier
// Namespaces options. Objects in other namespaces are read from the API server. The default is all namespaces. A name
// may be a pattern with *, ? and [a-z], such as "team-*". A name or pattern after an exclamation mark excludes the
// namespaces that it matches. If several names and patterns match, the last of them decides: "*", "!kube-*",
// "kube-public". Namespaces that match later are watched, too, which needs permission to list and watch namespaces.
// When a namespace leaves the scope, its objects come as events of the type deploy.Left.
func Namespaces(names ...string) Option {
	return func(o *options) { o.namespaces = append(o.namespaces, names...) }
}

// NamespaceSelector limits the watches further: to the namespaces of Namespaces with labels that selector matches. A
// namespace enters or leaves the scope when its labels change. nil, the default, selects all.
func NamespaceSelector(selector labels.Selector) Option {
	return func(o *options) { o.namespaceSelector = selector }
}

// MetadataOnly watches and holds only the metadata of these kinds, in addition to the kinds of earlier MetadataOnly
// options, see deploy.PartialView. It is for kinds with many or large objects whose content nobody reads, such as
// Secrets that are only written. An apply then returns only metadata too.
func MetadataOnly(kinds ...schema.GroupKind) Option {
	return func(o *options) {
		for _, kind := range kinds {
			o.metadataOnly[kind] = true
		}
	}
}

// Selected watches only the objects of kind that match both selectors. A nil selector matches all objects. The API
// server selects, so that memory and traffic are those of the selected objects. List of the View returns only these,
// and Get reads other objects from the API server.
//
// When an object doesn't match any more, for example because it lost a label, its event is deploy.Left. The API server
// reports this in the same way as a deletion. So the View reads the metadata of each object that goes, unless it went
// by an own write. This needs permission to get the objects. If the read fails, the event comes after a later read
// succeeded.
//
// Objects of kind can be written, too, if they match: a creation or apply of an object that doesn't match is a
// *deploy.InvalidManifestError, unless it names the uid of an existing object. An apply of an existing object that
// doesn't match costs a read each time. Objects that don't match aren't found by their owner (deploy.Manager.Owned). An
// ApplySet finds its members without the View.
//
// If the API server refuses a selector, for example because of an unknown field, reads of kind and Synced of a
// subscription return a *deploy.InvalidError.
func Selected(kind schema.GroupKind, byLabel labels.Selector, byField fields.Selector) Option {
	return func(o *options) { o.selected[kind] = selection.Selection{Labels: byLabel, Fields: byField} }
}

// Logger sets the logger for events that no caller gets as an error, such as watches that break and recover. The
// default, also for nil, is slog.Default.
func Logger(logger *slog.Logger) Option {
	return func(o *options) {
		if o.logger = logger; logger == nil {
			o.logger = slog.Default()
		}
	}
}

// New returns the cluster that config points at. New sends no request and doesn't change config. When ctx ends, all
// watches end, and so do calls that wait for them.
//
// A QPS of 0 means 200 with a burst of 400, and a negative QPS means no limit. Timeout limits each request, but not
// watches. 0 means 70 s. A request that takes longer returns a *deploy.UnavailableError. A BearerTokenFile is read
// again now and then, and at once when its token is refused. Warning handlers of config aren't used. The API server's
// warnings about an apply are in deploy.Applied. Its warnings about other requests are logged: at level Warn if the
// text is new for the kind, and at Debug otherwise.
func New(ctx context.Context, config *rest.Config, opts ...Option) (*Cluster, error) {
	if config == nil {
		return nil, errors.New("cluster: nil configuration")
	}
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	config = rest.CopyConfig(config)
	if config.QPS == 0 {
		config.QPS, config.Burst = defaultQPS, defaultBurst
	}
	limit := config.Timeout
	if limit <= 0 {
		limit = defaultLimit
	}
	config.Timeout = 0
	config.WarningHandlerWithContext = rest.NoWarnings{} // watches would repeat their warnings with each reconnect
	rereadToken(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	pool := compact.NewPool()
	requests, err := newRequests(config, client, limit, pool)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	found := newResources(requests)
	return &Cluster{requests: requests, resources: found, store: newStore(ctx, requests, found, pool, o), warnings: newWarnings(o.logger)}, nil
}

func newOptions(opts []Option) (options, error) {
	o := options{logger: slog.Default(), metadataOnly: map[schema.GroupKind]bool{}, selected: map[schema.GroupKind]selection.Selection{}}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	for _, name := range o.namespaces {
		if _, err := NamespacePattern(name); err != nil {
			return options{}, err
		}
	}
	maps.DeleteFunc(o.selected, func(_ schema.GroupKind, chosen selection.Selection) bool { return chosen.All() })
	for kind, chosen := range o.selected {
		if err := chosen.Check(kind); err != nil {
			return options{}, err
		}
	}
	return o, nil
}

// rereadToken changes config so that a refused token is read from its file again at once. client-go itself would use
// the token for up to a minute.
func rereadToken(config *rest.Config) {
	if config.BearerTokenFile == "" {
		return
	}
	if _, err := os.ReadFile(config.BearerTokenFile); err != nil && config.BearerToken != "" {
		return // client-go uses BearerToken
	}
	config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(config.BearerTokenFile)))
	config.BearerToken, config.BearerTokenFile = "", ""
}

// Port returns the Port of the cluster. The View shows its writes at once.
func (c *Cluster) Port() deploy.Port { return port{c} }

// View returns the View of the cluster.
func (c *Cluster) View() deploy.View { return c.store }

// Wait waits until all watches have ended. They end after the context of New has ended.
func (c *Cluster) Wait() { c.store.running.Wait() }
