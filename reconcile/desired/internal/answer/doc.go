// Package answer checks the children that a function of a user returns, and brings them into one form. It is pure.
package answer
