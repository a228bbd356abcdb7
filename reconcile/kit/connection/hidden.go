package connection

import (
	"fmt"
	"log/slog"
)

// Hidden is a text that must not be shown, such as a password. Whatever prints, logs or encodes it gets ***, or an
// empty text if it is empty. It can't be decoded.
type Hidden struct{ text string }

// Hide returns text as Hidden.
func Hide(text string) Hidden { return Hidden{text} }

// Reveal returns the text itself.
func (h Hidden) Reveal() string { return h.text }

// String returns ***, or an empty text if h is empty.
func (h Hidden) String() string {
	if h.text == "" {
		return ""
	}
	return "***"
}

// Format implements fmt.Formatter for all verbs, so that none shows the text.
func (h Hidden) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, h.String()) }

// LogValue implements slog.LogValuer.
func (h Hidden) LogValue() slog.Value { return slog.StringValue(h.String()) }

// MarshalText implements encoding.TextMarshaler, for JSON, YAML and XML.
func (h Hidden) MarshalText() ([]byte, error) { return []byte(h.String()), nil }
