// Package limits bounds what a hook may take, however it is called.
package limits
