package tls

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/internal/pki"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Option is an option of Own and of CertManager. The last one of a kind wins; nil is ignored. An invalid value, and an
// option that the source can't have, is an error of the components that the source adds.
type Option func(*options)

type options struct {
	times pki.Times
	// issuer and bundle are of CertManager; nil if they weren't set.
	issuer *issuerName
	bundle *string
}

type issuerName struct {
	kind schema.GroupKind
	name string
}

// CALife sets how long a CA is valid; default 10 years. It is replaced when two thirds of this time have passed. A
// change counts from the next CA on. With Issuer it has no effect.
func CALife(life time.Duration) Option { return func(o *options) { o.times.Life = life } }

// Life sets how long a certificate is valid; default 1 year. It is replaced when two thirds of this time have passed.
// A change counts from the next certificate on.
func Life(life time.Duration) Option { return func(o *options) { o.times.Leaf = life } }

// Issuer sets by whom CertManager has certificates issued, instead of a CA of the resource's own. kind is Issuer, which
// is in the namespace of the resource, or ClusterIssuer, or a kind of another group with that group, such as
// "AWSPCAClusterIssuer.awspca.cert-manager.io".
func Issuer(kind, name string) Option {
	by := issuerName{schema.ParseGroupKind(kind), name}
	if by.kind.Group == "" {
		by.kind.Group = certManagerGroup
	}
	return func(o *options) { o.issuer = &by }
}

// TrustBundle names a Bundle of trust-manager, whose CAs are trusted instead of those that CertManager finds. Its
// target has to be a ConfigMap, and its namespaceSelector has to select the namespace of the resource. Components that
// have asked for certificates wait until it is Synced.
func TrustBundle(name string) Option { return func(o *options) { o.bundle = &name } }

// Wait sets how long programs that reload may take until they use what their Secrets have; default 1 hour. The kubelet
// takes about two minutes to change mounted files. The replacement of a CA by Own waits for this time twice, each time
// from when all components with certificates are ready. With CertManager it has no effect.
func Wait(wait time.Duration) Option { return func(o *options) { o.times.Wait = wait } }

const year = 365 * 24 * time.Hour

func newOptions(opts []Option) options {
	o := options{times: pki.Times{Life: 10 * year, Leaf: year, Wait: time.Hour}}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	return o
}

// shortest is the shortest life of a certificate. Certificates begin some minutes earlier than now, so that a shorter
// one would be due at once.
const shortest = time.Hour

// validateForOwn validates the options of Own.
func (o options) validateForOwn() error {
	err := o.validate()
	if o.issuer != nil || o.bundle != nil {
		err = errors.Join(err, errors.New("options Issuer and TrustBundle: Own has a CA of its own: use CertManager"))
	}
	return err
}

// validateForCertManager validates the options of CertManager. Whose CA lives how long isn't known with an issuer.
func (o options) validateForCertManager() error {
	var errs []error
	if by := o.issuer; by != nil {
		o.times.Life = leastLife(o.times)
		if by.kind.Kind == "" || by.name == "" {
			errs = append(errs, fmt.Errorf("issuer %q %q: it needs a kind and a name", by.kind.Kind, by.name))
		}
	}
	if o.bundle != nil && *o.bundle == "" {
		errs = append(errs, errors.New("trust bundle: it needs a name"))
	}
	return errors.Join(append(errs, o.validate())...)
}

func (o options) validate() error {
	var errs []error
	if o.times.Leaf < shortest {
		errs = append(errs, fmt.Errorf("life of certificates: %s: at least %s is needed", o.times.Leaf, shortest))
	}
	if o.times.Wait < 0 {
		errs = append(errs, fmt.Errorf("wait: %s: it can't be negative", o.times.Wait))
	}
	if least := leastLife(o.times); o.times.Life < least {
		errs = append(errs, fmt.Errorf("life of a CA: %s: at least %s is needed: twice the life of a certificate and two waits", o.times.Life, least))
	}
	return errors.Join(errs...)
}

// leastLife is the shortest life of a CA, in which a certificate and the replacement of the CA fit twice.
func leastLife(times pki.Times) time.Duration { return 2 * (times.Leaf + 2*max(times.Wait, 0)) }
