package manifest

import "os"

// Option sets what is rarely set, of Encode and of Open.
type Option func(*options)

type options struct {
	secrets, disabled bool
}

// ShowSecrets has the values of Secrets in the clear.
func ShowSecrets() Option { return func(o *options) { o.secrets = true } }

// Disabled has the components that are disabled written, too: in a directory below DISABLED, in a stream with a
// heading that says so.
func Disabled() Option { return func(o *options) { o.disabled = true } }

func newOptions(opts []Option) options {
	var o options
	for _, option := range opts {
		option(&o)
	}
	return o
}

const (
	fileMode      os.FileMode = 0o600
	directoryMode os.FileMode = 0o700
)
