package vcs

import (
	"cmp"
	"fmt"
)

// Method is the form of a checkout.
type Method string

// The methods.
const (
	// Worktree makes the files and nothing else.
	Worktree Method = "worktree"
	// Clone makes the files, and a repository that has all objects, tags and branches of the source.
	Clone Method = "clone"
)

// Limits are the limits of a checkout: without them, a hostile repository could fill the disk. Zero means the default.
type Limits struct {
	// Files is the maximum number of files, links and folders together: one million by default.
	Files int64
	// Bytes is the maximum total length of the files: 16 GiB by default. With Clone, it includes the copied repository.
	Bytes int64
	// Depth is the maximum depth of nested folders: 256 by default.
	Depth int
}

const (
	maxFiles = 1_000_000
	maxBytes = 16 << 30
	maxDepth = 256
)

// CheckoutOption is an option of Checkout. A nil option is ignored.
type CheckoutOption func(*checkoutOptions)

type checkoutOptions struct {
	readOnly, durable, outsideLinks, withoutSubmodules, noWait bool
	limits                                                     Limits
}

// ReadOnly makes the files and folders read-only.
func ReadOnly() CheckoutOption { return func(o *checkoutOptions) { o.readOnly = true } }

// Durable syncs each file before the checkout appears. Without Durable, files may be incomplete after a power failure,
// but not after a process was killed.
func Durable() CheckoutOption { return func(o *checkoutOptions) { o.durable = true } }

// OutsideLinks keeps symbolic links that lead out of the tree. Without OutsideLinks, such links are an error, because
// they lead to files that aren't part of the version.
func OutsideLinks() CheckoutOption { return func(o *checkoutOptions) { o.outsideLinks = true } }

// WithoutSubmodules leaves the folders of submodules empty. Without this option, submodules are an error, because their
// content is in other repositories.
func WithoutSubmodules() CheckoutOption {
	return func(o *checkoutOptions) { o.withoutSubmodules = true }
}

// NoWait returns a *ContentionError at once when others are working on the same destination.
func NoWait() CheckoutOption { return func(o *checkoutOptions) { o.noWait = true } }

// Within sets the limits of the checkout. Negative limits are an error.
func Within(limits Limits) CheckoutOption { return func(o *checkoutOptions) { o.limits = limits } }

func newCheckoutOptions(method Method, options []CheckoutOption) (checkoutOptions, error) {
	var o checkoutOptions
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	l := o.limits
	switch {
	case method != Worktree && method != Clone:
		return o, fmt.Errorf("method %q: use %s or %s", method, Worktree, Clone)
	case l.Files < 0 || l.Bytes < 0 || l.Depth < 0:
		return o, fmt.Errorf("limits %+v: a limit is negative: use 0 for the default", l)
	}
	o.limits = Limits{Files: cmp.Or(l.Files, maxFiles), Bytes: cmp.Or(l.Bytes, maxBytes), Depth: cmp.Or(l.Depth, maxDepth)}
	return o, nil
}
