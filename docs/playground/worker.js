var a=`
import json
from tilesim.player import playground
lambda form: json.dumps(playground.answer(json.loads(form)))
`,i=n=>postMessage(n),s=n=>new URL(n,self.location.href).href;async function o(){let{loadPyodide:n}=await import(s("pyodide/pyodide.mjs")),e=await n({indexURL:s("pyodide/")}),r=fetch(s("tilesim.zip"));return await e.loadPackage("numpy"),e.unpackArchive(await(await r).arrayBuffer(),"zip"),e.runPython(a)}var t=o();t.then(()=>i({kind:"ready"}),n=>i({kind:"failed",sentence:String(n)}));addEventListener("message",async({data:n})=>{try{i({kind:"answer",number:n.number,...JSON.parse((await t)(JSON.stringify(n.form)))})}catch(e){let r=String(e).trim().split(`
`);i({kind:"answer",number:n.number,errors:{schedules:r[r.length-1]}})}});
