package tls

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/kit/tls/internal/pki"
)

// Option is an option of Own. The last one of a kind wins; nil is ignored. An invalid value is an error of the
// component that has the CA.
type Option func(*options)

type options struct{ times pki.Times }

// CALife sets how long a CA is valid; default 10 years. It is replaced when two thirds of this time have passed. A
// change counts from the next CA on.
func CALife(life time.Duration) Option { return func(o *options) { o.times.Life = life } }

// Life sets how long a certificate is valid; default 1 year. It is replaced when two thirds of this time have passed.
// A change counts from the next certificate on.
func Life(life time.Duration) Option { return func(o *options) { o.times.Leaf = life } }

// Wait sets how long programs may take until they use what their Secrets have; default 1 hour. The kubelet takes about
// two minutes to change mounted files. The replacement of a CA waits for this time twice.
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

func (o options) validate() error {
	var errs []error
	if o.times.Leaf < shortest {
		errs = append(errs, fmt.Errorf("life of certificates: %s: at least %s is needed", o.times.Leaf, shortest))
	}
	if o.times.Wait < 0 {
		errs = append(errs, fmt.Errorf("wait: %s: it can't be negative", o.times.Wait))
	}
	if least := 2 * (o.times.Leaf + o.times.Wait); o.times.Life < least {
		errs = append(errs, fmt.Errorf("life of a CA: %s: at least %s is needed: twice the life of a certificate and the wait", o.times.Life, least))
	}
	return errors.Join(errs...)
}
