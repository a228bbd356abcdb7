package tlssecret

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config says whose certificate a Source has, and where it is stored.
type Config struct {
	// Namespace and Secret are the namespace and the name of the Secret. Both are needed.
	Namespace, Secret string
	// Names are the DNS names and IP addresses of the server; 1 to 100.
	Names []string
	// FieldManager owns the fields of the Secret; default "operkit".
	FieldManager string
	// Domain is the domain of the annotations, as deploy.Manager.KeyDomain returns it; default deploy.Domain.
	Domain string
	// Life has the times of the CA and of certificates.
	Life Life
	// Logger logs; nil is slog.Default.
	Logger *slog.Logger
	// Now is the source of time; default time.Now. Before a write, the API server's clock corrects it.
	Now func() time.Time
	// Changed, if not nil, is called after CA returns other certificates than before, also for the first time. One
	// goroutine at a time calls it, that of Load or Run, which waits for it.
	Changed func()
}

// Life has the times of a CA and of its certificates. Zero times are the defaults. A change counts from the next CA or
// certificate on.
type Life struct {
	// CA is how long a CA is valid; default 10 years. Leaf is how long a certificate is valid; default 1 year, and at
	// least 1 hour. Both are replaced when two thirds of their time have passed.
	CA, Leaf time.Duration
	// Wait is how long clients may take to trust a CA after CA has returned it; default 1 hour.
	Wait time.Duration
}

const (
	year = 365 * 24 * time.Hour
	// shortest is the shortest life of a certificate, see tls.Life.
	shortest = time.Hour
	// mostNames is how many names a server may have.
	mostNames = 100
)

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// Selector selects the Secret by its name, for the option cluster.Selected: a Source needs to see no other one.
func (c Config) Selector() fields.Selector {
	return fields.OneTermEqualSelector("metadata.name", c.Secret)
}

// Rights returns what a Source needs to be allowed to do. RBAC can't limit the creation to the name of the Secret. It
// limits list and watch to it for clients that use Selector.
func (c Config) Rights() []deploy.Right {
	return []deploy.Right{
		{Kind: secretKind, Namespace: c.Namespace, Names: []string{c.Secret}, Verbs: []string{"get", "list", "watch", "update"}},
		{Kind: secretKind, Namespace: c.Namespace, Verbs: []string{"create"}},
	}
}

// complete sets defaults, and returns all that is wrong.
func (c *Config) complete() (pki.Names, error) {
	setDefault(&c.FieldManager, "operkit")
	setDefault(&c.Domain, deploy.Domain)
	setDefault(&c.Life.CA, 10*year)
	setDefault(&c.Life.Leaf, year)
	setDefault(&c.Life.Wait, time.Hour)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	names, err := pki.ParseNames(c.Names)
	errs := []error{err}
	if n := len(c.Names); n == 0 || n > mostNames {
		errs = append(errs, fmt.Errorf("%d names: 1 to %d are needed", n, mostNames))
	}
	for _, one := range []struct{ what, name string }{{"namespace", c.Namespace}, {"Secret", c.Secret}} {
		if wrong := validation.NameIsDNSSubdomain(one.name, false); len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("%s %q: %s", one.what, one.name, strings.Join(wrong, "; ")))
		}
	}
	if c.Life.Leaf < shortest {
		errs = append(errs, fmt.Errorf("life of certificates: %s: at least %s is needed", c.Life.Leaf, shortest))
	}
	if c.Life.Wait < 0 {
		errs = append(errs, fmt.Errorf("wait: %s: it can't be negative", c.Life.Wait))
	}
	if least := 2 * (c.Life.Leaf + 2*max(c.Life.Wait, 0)); c.Life.CA < least {
		errs = append(errs, fmt.Errorf("life of a CA: %s: at least %s is needed: twice the life of a certificate and two waits", c.Life.CA, least))
	}
	return names, errors.Join(errs...)
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}
