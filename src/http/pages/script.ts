// The only script of the pages: a button in each password field shows it, and forms with `data-submit` are
// sent immediately. The pages work without it. Browsers store the text of plain text fields, so a password
// is hidden again before it is sent.

export const script = `for (const field of document.querySelectorAll('input[type="password"]')) {
  const button = document.createElement('button')
  const show = (isShown) => {
    field.type = isShown ? 'text' : 'password'
    button.textContent = isShown ? 'Hide' : 'Show'
    button.setAttribute('aria-label', (isShown ? 'Hide: ' : 'Show: ') + field.labels[0].textContent)
  }
  button.type = 'button'
  button.className = 'show'
  button.addEventListener('click', () => show(field.type === 'password'))
  field.form.addEventListener('submit', () => show(false))
  show(false)
  field.after(button)
}
document.querySelector('form[data-submit]')?.requestSubmit()
`
