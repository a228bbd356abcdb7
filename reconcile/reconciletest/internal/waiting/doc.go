// Package waiting finds where the code of a user waits in a bubble of testing/synctest.
package waiting
