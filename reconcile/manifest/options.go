package manifest

import (
	"os"

	"github.com/operkit/operkit/reconcile/internal/optional"
)

// Option is an option of Encode and Open. nil is ignored.
type Option func(*options)

type options struct {
	secrets, disabled bool
}

// ShowSecrets writes the values of Secrets.
func ShowSecrets() Option { return func(o *options) { o.secrets = true } }

// Disabled writes disabled components too: into a folder DISABLED, or marked in their comments.
func Disabled() Option { return func(o *options) { o.disabled = true } }

func newOptions(opts []Option) options {
	var o options
	optional.Apply(&o, opts)
	return o
}

const (
	fileMode      os.FileMode = 0o600
	directoryMode os.FileMode = 0o700
)
