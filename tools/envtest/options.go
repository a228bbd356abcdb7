package envtest

// Option is an option of [Start].
type Option func(*settings)

type settings struct {
	rights []Grant
	crds   []string
	own    bool
	flags  []string
}

func newSettings(options []Option) settings {
	s := settings{rights: []Grant{EverythingInNamespace()}}
	for _, option := range options {
		option(&s)
	}
	return s
}

// CRDs installs the custom resource definitions of files and folders, as [Env.InstallCRDs] does. In a cluster that is
// started for the test, they are installed before the controllers start, which is faster.
func CRDs(paths ...string) Option {
	return func(s *settings) { s.crds = append(s.crds, paths...) }
}

// Rights gives the test's own user exactly these rights instead of all rights inside its namespace.
func Rights(grants ...Grant) Option {
	return func(s *settings) { s.rights = grants }
}

// OwnCluster gives the test a control plane of its own. The control plane needs about three seconds to start and 800 MB
// of memory, and is removed when the test ends. flags are additional flags of `devcluster up`, such as --feature-gates.
// With --components=etcd,apiserver nothing is controlled: no Pod is created or becomes Ready, no garbage is collected,
// and there are no StorageClasses, so claims stay Pending.
func OwnCluster(flags ...string) Option {
	return func(s *settings) { s.own, s.flags = true, append(s.flags, flags...) }
}
