package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Client-side limits when the configuration names none. The API server's own priority and
// fairness does the real work; these only keep a mistake from becoming a flood.
const (
	defaultQPS   = 200
	defaultBurst = 400
)

// defaultLimit is how long a request waits for its answer when the configuration doesn't
// say: a little more than an API server takes before it gives up on its own.
const defaultLimit = 70 * time.Second

// Cluster is one API server. It is safe for concurrent use.
type Cluster struct {
	requests  *requests
	resources *resources
	store     *store
	remarks   *remarks
}

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	namespaces        []string
	namespaceSelector labels.Selector
	metadataOnly      map[schema.GroupKind]bool
	selected          map[schema.GroupKind]selection
	logger            *slog.Logger
}

// Namespaces limits what is watched of namespaced kinds to these namespaces; reads of
// others are live. Without it all namespaces are watched. A name may be a pattern with *, ? and [a-z], such as
// "team-*"; one that begins with an exclamation mark keeps out what it matches, and of several that match the last
// one decides: "*", "!kube-*", "kube-public". Patterns are followed while the program runs, which takes the right
// to list and watch namespaces. The objects of a namespace that leaves the scope are told as deploy.Left.
func Namespaces(names ...string) Option {
	return func(o *options) { o.namespaces = append(o.namespaces, names...) }
}

// NamespaceSelector limits what is watched further, to namespaces with these labels, as Namespaces does: namespaces
// that get the labels come into scope, and those that lose them leave.
func NamespaceSelector(selector labels.Selector) Option {
	return func(o *options) { o.namespaceSelector = selector }
}

// MetadataOnly has watches of these kinds bring, and the View hold, nothing but metadata: see
// deploy.PartialView. It is for kinds of which many or large objects exist and whose content nobody
// reads, such as Secrets that are only written. An apply is then answered by metadata too.
func MetadataOnly(kinds ...schema.GroupKind) Option {
	return func(o *options) {
		for _, kind := range kinds {
			o.metadataOnly[kind] = true
		}
	}
}

// Selected has watches of kind bring only the objects that both selectors match (nil: all), by asking the API server
// for no others. It is for kinds that are only read: List then returns none but these, Get reads others from the cluster,
// and an object can't be created or applied, because what the selectors don't match would never be seen. Selectors that the
// API server doesn't take, such as by a field that it can't select by, are a *deploy.InvalidError of reads of kind and of a
// subscription's Synced.
func Selected(kind schema.GroupKind, byLabel labels.Selector, byField fields.Selector) Option {
	return func(o *options) {
		var chosen selection
		if byLabel != nil {
			chosen.labels = byLabel.String()
		}
		if byField != nil {
			chosen.fields = byField.String()
		}
		o.selected[kind] = chosen
	}
}

// Logger receives what a reader should know but no caller is told: watches that break and
// come back. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// New returns the cluster that config points at. Nothing is sent yet. Watches that
// subscriptions start end with ctx, and so does waiting for what they bring. config isn't
// changed; QPS 0 means 200 with a burst of 400, a negative one no limit. Its Timeout, 0 means
// 70 s, is for each request and not for watches; what isn't answered by then is a
// *deploy.UnavailableError. Its warning handlers
// aren't used: what the API server remarks about an apply is in deploy.Applied, what it
// remarks about other requests is logged, the same of one kind as a warning once. A BearerTokenFile is read again now and then, and at once when
// its token is refused.
func New(ctx context.Context, config *rest.Config, opts ...Option) (*Cluster, error) {
	if config == nil {
		return nil, errors.New("cluster: the configuration is nil")
	}
	o := options{metadataOnly: map[schema.GroupKind]bool{}, selected: map[schema.GroupKind]selection{}}
	for _, option := range opts {
		option(&o)
	}
	for _, name := range o.namespaces {
		if _, err := NamespacePattern(name); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
		}
	}
	if o.logger == nil {
		o.logger = slog.Default()
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
	config.WarningHandlerWithContext = rest.NoWarnings{} // of watches: they would come with each reconnect
	rereadToken(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	requests, err := newRequests(config, client, limit)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	found := newResources(requests)
	store := newStore(ctx, requests, found, o)
	requests.decoder = decoder{known: store.watchedState, common: store.common}
	return &Cluster{requests: requests, resources: found, store: store, remarks: newRemarks(o.logger)}, nil
}

// rereadToken has a token that is refused read from its file again, where client-go itself would go on with it for up to
// a minute.
func rereadToken(config *rest.Config) {
	if config.BearerTokenFile == "" {
		return
	}
	if _, err := os.ReadFile(config.BearerTokenFile); err != nil && config.BearerToken != "" {
		return // client-go makes do with the other one
	}
	config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(config.BearerTokenFile)))
	config.BearerToken, config.BearerTokenFile = "", ""
}

// Port returns the requests of the cluster. What they change is seen by View at once.
func (c *Cluster) Port() deploy.Port { return port{c} }

// View returns the reads of the cluster.
func (c *Cluster) View() deploy.View { return c.store }

// Wait returns when every watch has ended, which they do after the context of New has.
func (c *Cluster) Wait() { c.store.running.Wait() }
