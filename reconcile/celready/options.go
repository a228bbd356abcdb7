package celready

// DefaultCostLimit is what one evaluation of one expression may cost unless CostLimit says otherwise. It is a tenth of what Kubernetes
// allows an expression of a CustomResourceDefinition, and takes some milliseconds, some tenths of a second where lists are put together. Expressions
// of a kind's readiness cost some dozens.
const DefaultCostLimit = 100_000

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	costLimit uint64
}

// CostLimit sets what one evaluation of one expression may cost: about one unit for each access, operator or call and each
// element of a loop, and one for ten characters that are looked at. Zero is DefaultCostLimit.
func CostLimit(limit uint64) Option { return func(o *options) { o.costLimit = limit } }

func newOptions(opts []Option) options {
	var o options
	for _, option := range opts {
		option(&o)
	}
	if o.costLimit == 0 {
		o.costLimit = DefaultCostLimit
	}
	return o
}
