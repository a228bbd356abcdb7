package vcs

import "fmt"

// Method says what a checkout is.
type Method string

// The methods.
const (
	// Worktree is the files alone.
	Worktree Method = "worktree"
	// Clone is a repository of its own with the files.
	Clone Method = "clone"
)

// Limits are how much a checkout may be: a repository may be made so that it fills a disk. Zero is the default.
type Limits struct {
	// Files is how many files, links and folders there may be, one million by default; Bytes how long files together, 16 GiB; Depth how deep folders
	// may be in each other, 256.
	Files, Bytes int64
	Depth        int
}

const (
	mostFiles = 1_000_000
	mostBytes = 16 << 30
	mostDepth = 256
)

// CheckoutOption sets what is rarely set.
type CheckoutOption func(*checkoutOptions)

type checkoutOptions struct {
	readOnly, durable, outsideLinks, withoutSubmodules, noWait bool
	limits                                                     Limits
}

// ReadOnly takes the right to write off the files and folders.
func ReadOnly() CheckoutOption { return func(o *checkoutOptions) { o.readOnly = true } }

// Durable has the content of each file on the disk before the checkout is there. Without it a machine that loses its power may lose content of
// files, while that of a process which is killed is whole.
func Durable() CheckoutOption { return func(o *checkoutOptions) { o.durable = true } }

// OutsideLinks keeps symbolic links that lead out of the tree. They are refused otherwise: who reads through one reads what is no part of the
// version.
func OutsideLinks() CheckoutOption { return func(o *checkoutOptions) { o.outsideLinks = true } }

// WithoutSubmodules leaves the folders of submodules empty. They are refused otherwise: their content is in other repositories.
func WithoutSubmodules() CheckoutOption {
	return func(o *checkoutOptions) { o.withoutSubmodules = true }
}

// NoWait doesn't wait for others who work on the same destination: it is a ContentionError.
func NoWait() CheckoutOption { return func(o *checkoutOptions) { o.noWait = true } }

// Within sets limits.
func Within(limits Limits) CheckoutOption { return func(o *checkoutOptions) { o.limits = limits } }

func newCheckoutOptions(method Method, options []CheckoutOption) (checkoutOptions, error) {
	var o checkoutOptions
	for _, option := range options {
		option(&o)
	}
	if o.limits.Files == 0 {
		o.limits.Files = mostFiles
	}
	if o.limits.Bytes == 0 {
		o.limits.Bytes = mostBytes
	}
	if o.limits.Depth == 0 {
		o.limits.Depth = mostDepth
	}
	if method != Worktree && method != Clone {
		return o, fmt.Errorf("method %q: use %s or %s", method, Worktree, Clone)
	}
	return o, nil
}
